import random


class LampShopEnv(ToolUseBaseEnv):
    """Flaw: "done" is the expected answer and _check_answer was not overridden."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.wanted = rng.randint(10, 99)
        self._state = {"sold": None, "invoiced": None}
        number = {"type": "object", "properties": {"lamp": {"type": "integer"}}, "required": ["lamp"]}
        self._tools = {
            "sell": {"description": "Sell a lamp", "parameters": number},
            "invoice": {"description": "Write an invoice", "parameters": number},
        }
        self._user_messages = [f"Sell lamp {self.wanted}.", "Write the invoice."]
        self._message_criteria = [
            lambda s: s["sold"] == self.wanted,
            lambda s: s["invoiced"] == self.wanted,
        ]
        self._current_msg = 0
        self._expected_answer = "done"
        return self._user_messages[0], {}

    def tool_sell(self, lamp):
        self._state["sold"] = lamp
        return "sold"

    def tool_invoice(self, lamp):
        self._state["invoiced"] = lamp
        return "written"

    def solution(self):
        return "Call sell, then invoice, then <answer>done</answer>."
