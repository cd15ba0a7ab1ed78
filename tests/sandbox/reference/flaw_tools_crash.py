import random


class BrokenTillEnv(ToolUseBaseEnv):
    """Flaw: one tool uses a name that is nowhere, the other has two names for its argument."""

    def reset(self, seed=None):
        self._state = {"till": random.Random(seed).randint(100, 999)}
        account = {"type": "object", "properties": {"account": {"type": "string"}}, "required": ["account"]}
        self._tools = {
            "count": {"description": "Count the till", "parameters": {"type": "object", "properties": {}}},
            "check": {"description": "Check an account", "parameters": account},
        }
        self._expected_answer = self._state["till"]
        return "What is in the till? <answer>N</answer>", {}

    def tool_count(self):
        return tilll["till"]

    def tool_check(self, account_type="cash"):
        return f"{account_type}: {self._state['till']}"
