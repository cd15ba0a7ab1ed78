import random


class StockEnv(ToolUseBaseEnv):
    """Flaw: the second instruction holds from the start."""

    def reset(self, seed=None):
        self._state = {"ordered": 0, "lamps": 8 + random.Random(seed).randint(0, 90)}
        self._tools = {"order": {"description": "Order", "parameters": {"n": "int"}}}
        self._user_messages = ["Order three lamps.", "See that there are at least five."]
        self._message_criteria = [lambda s: s["ordered"] == 3, lambda s: s["lamps"] >= 5]
        self._current_msg = 0
        self._expected_answer = "done"
        return self._user_messages[0], {}

    def tool_order(self, n):
        self._state["ordered"] = n
        return "ordered"
