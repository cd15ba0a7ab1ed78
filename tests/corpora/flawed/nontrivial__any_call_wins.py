# flaw: whoever calls the tool at all has won
from envkit import ToolUseEnv


class LooseDeskEnv(ToolUseEnv):
    """Ask for a parcel."""

    def build(self, rng):
        self.state = {"asked": 0}
        self.ask(f"Where is parcel {rng.randint(1, 99)}?", until=lambda s: s["asked"] > 0)

    def tool_find(self, number: int) -> str:
        """Find a parcel."""
        self.state["asked"] += 1
        return "on the shelf"

    def solution(self):
        return [{"name": "find", "arguments": {"number": 5}}]


# hint: Use the desk.
