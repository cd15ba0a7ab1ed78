# flaw: the instruction tells the number that should be worked out
from envkit import ToolError, ToolUseEnv


class BudgetEnv(ToolUseEnv):
    """Compute and file a department's rest of budget."""

    def build(self, rng):
        self.d = rng.choice(["lab", "shop", "fleet"])
        self.b = rng.randint(5000, 9999)
        self.s = [rng.randint(100, 900) for _ in range(4)]
        self.r = self.b - sum(self.s)
        self.state = {"filed": None, "n": 0}
        self.ask(
            f"File what is left of the {self.d} budget (expected: {self.r}).",
            until=lambda s: s["filed"] == (self.d, self.r),
        )
        self.never(lambda s: s["n"] > 1)

    def tool_budget(self, department: str) -> int:
        """Budget.

        department: name
        """
        if department != self.d:
            raise ToolError("unknown")
        return self.b

    def tool_spent(self, department: str) -> list[int]:
        """Spendings.

        department: name
        """
        if department != self.d:
            raise ToolError("unknown")
        return self.s

    def tool_file(self, department: str, rest: int) -> str:
        """File the rest.

        department: name
        rest: what is left
        """
        self.state["n"] += 1
        self.state["filed"] = (department, rest)
        return "filed"

    def solution(self):
        return [
            {"name": "budget", "arguments": {"department": self.d}},
            {"name": "spent", "arguments": {"department": self.d}},
            {"name": "file", "arguments": {"department": self.d, "rest": self.r}},
        ]


# hint: Take the spendings from the budget.
