import random


class OrderBookEnv(ToolUseBaseEnv):
    """Flaw: the criterion looks for a text in a list of dicts, and solution() believes in it."""

    def reset(self, seed=None):
        self.item = random.Random(seed).choice(["lamp", "rug", "vase", "desk"])
        self._state = {"orders": []}
        self._tools = {"order": {"description": "Order", "parameters": {"item": {"type": "string"}}}}
        self._user_messages = [f"Order a {self.item}."]
        self._message_criteria = [lambda s: self.item in s["orders"]]
        self._current_msg = 0
        self._expected_answer = "done"
        return self._user_messages[0], {}

    def tool_order(self, item):
        self._state["orders"].append({"item": item})
        return "ordered"

    def solution(self):
        return f"1. order(item='{self.item}') 2. <answer>done</answer>"
