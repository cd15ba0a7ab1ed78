# flaw: the reference breaks the invariant
from envkit import ToolUseEnv


class TankEnv(ToolUseEnv):
    """Fill a tank without ever going above a mark."""

    def build(self, rng):
        self.goal = rng.randint(30, 60)
        self.state = {"litres": 0}
        self.ask(f"Fill the tank to {self.goal} litres.", until=lambda s: s["litres"] == self.goal)
        self.never(lambda s: s["litres"] > self.goal)

    def tool_pour(self, litres: int) -> str:
        """Pour in some litres, or take some out with a number below zero."""
        self.state["litres"] += litres
        return f"{self.state['litres']} litres"

    def solution(self):
        return [
            {"name": "pour", "arguments": {"litres": self.goal + 5}},
            {"name": "pour", "arguments": {"litres": -5}},
        ]


# hint: Come from below.
