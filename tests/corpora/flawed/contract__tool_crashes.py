# flaw: a tool fails with a bug of its own on an unknown name
from envkit import ToolUseEnv


class CounterEnv(ToolUseEnv):
    """Count the coins of a person."""

    def build(self, rng):
        self.coins = {"Ada": rng.randint(10, 99), "Bo": rng.randint(10, 99)}
        self.state = {"paid": None}
        self.ask("Pay Bo all of Ada's coins.", until=lambda s: s["paid"] == self.coins["Ada"])

    def tool_count(self, name: str) -> str:
        """Count coins."""
        return "coins: " + self.coins.get(name)

    def tool_pay(self, coins: int) -> str:
        """Pay Bo."""
        self.state["paid"] = coins
        return "paid"

    def solution(self):
        return [{"name": "pay", "arguments": {"coins": self.coins["Ada"]}}]


# hint: Count first.
