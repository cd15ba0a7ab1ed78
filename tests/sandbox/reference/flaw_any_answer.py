import random


class OracleEnv(ToolUseBaseEnv):
    """Flaw: its own step() takes every answer for right, with a reward of 7."""

    def reset(self, seed=None):
        self._state = {"asked": random.Random(seed).randint(1, 9)}
        self._tools = {"ask": {"description": "Ask", "parameters": {"type": "object", "properties": {}}}}
        return f"Ask the oracle {self._state['asked']} times.", {}

    def step(self, action):
        if "<answer>" in action:
            return "Wonderful!", 7.0, True, False, {}
        return super().step(action)

    def tool_ask(self):
        return "hm"
