import json
import random

from spare.core.envs.tool_use_base_env import ToolUseBaseEnv


class PettyCashEnv(ToolUseBaseEnv):
    """Add up what one person took from the petty cash."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.turn_count = 0
        people = ["Ada", "Ben", "Cleo", "Dov"]
        self.rows = [
            {"who": rng.choice(people), "amount": round(rng.uniform(1, 60), 2)} for _ in range(14)
        ]
        self.who = rng.choice([row["who"] for row in self.rows])
        self._state = {"closed": False}
        self._tools = {
            "rows": {
                "description": "Read five rows of the cash book, from the given one on.",
                "parameters": {
                    "type": "object",
                    "properties": {"start": {"type": "integer"}},
                    "required": ["start"],
                },
            },
            "close_book": {"description": "Close the cash book for the day."},
        }
        total = sum(row["amount"] for row in self.rows if row["who"] == self.who)
        self._expected_answer = f"${total:,.2f}"
        return f"How much did {self.who} take in all? Reply <answer>SUM</answer>." + self._obs_suffix(), {}

    def tool_rows(self, **kwargs):
        start = int(kwargs.get("start", 0))
        return json.dumps(self.rows[start : start + 5])

    def tool_close_book(self, **kwargs):
        self._state["closed"] = True
        return "closed"

    def solution(self):
        return f"1. rows(start=0) -> ... 2. rows(start=5) 3. rows(10) ANSWER: {self._expected_answer}"
