# flaw: the instruction is carried out before anything is called
from envkit import ToolUseEnv


class IdleDeskEnv(ToolUseEnv):
    """Open the shop."""

    def build(self, rng):
        self.state = {"open": True, "day": rng.randint(1, 99)}
        self.ask(f"Open the shop on day {self.state['day']}.", until=lambda s: s["open"])

    def tool_open_shop(self) -> str:
        """Open it."""
        self.state["open"] = True
        return "open"

    def solution(self):
        return [{"name": "open_shop", "arguments": {}}]


# hint: There is one tool.
