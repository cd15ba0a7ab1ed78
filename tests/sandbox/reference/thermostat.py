import random

import tool_use_base_env


class GreenhouseEnv(tool_use_base_env.ToolUseBaseEnv):
    """Warm a greenhouse; its own step() adds the weather to what the tools say."""

    def reset(self, seed=None):
        random.seed(seed)
        self.turn_count = 0
        self._state = {"now": random.randint(5, 12), "wanted": random.randint(18, 30)}
        self._tools = {
            "heat": {
                "description": "Raise the temperature",
                "parameters": {
                    "type": "object",
                    "properties": {"degrees": {"type": "integer"}},
                    "required": ["degrees"],
                },
            },
            "thermometer": {"description": "Read the temperature", "parameters": {"type": "object"}},
        }
        self._expected_answer = "warm"
        return f"Make it exactly {self._state['wanted']} degrees, then <answer>warm</answer>.", {}

    def step(self, action):
        text, reward, terminated, truncated, info = super().step(action)
        if terminated and self._state["now"] != self._state["wanted"]:
            return "It is not the right temperature.", 0.0, False, truncated, info
        return text + "\n(Outside it rains.)", reward, terminated, truncated, info

    def tool_heat(self, degrees=0):
        self._state["now"] += degrees
        return f"now {self._state['now']}"

    def tool_thermometer(self):
        return str(self._state["now"])

    def solution(self):
        return f"heat({self._state['wanted'] - self._state['now']}), then <answer>warm</answer>"
