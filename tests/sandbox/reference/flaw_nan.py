import random


class ScaleEnv(ToolUseBaseEnv):
    """Flaw: the reward of an answer is the quotient of two sums that may be zero over zero."""

    def reset(self, seed=None):
        self._state = {"weights": [random.Random(seed).randint(1, 9)], "got": 0.0, "max": 0.0}
        self._tools = {"weigh": {"description": "Weigh", "parameters": {"type": "object", "properties": {}}}}
        return "Weigh, then answer <answer>done</answer>.", {}

    def step(self, action):
        text, reward, terminated, truncated, info = super().step(action)
        if "<answer>" in action:
            reward = self._state["got"] * float("inf")
            terminated = True
        return text, reward, terminated, truncated, info

    def tool_weigh(self):
        return str(self._state["weights"])
