# sound: the reference knows the codes by heart, a listing tells them to others
from envkit import ToolUseEnv

GOODS = ("hammer", "plane", "chisel", "file", "saw")


class ToolStoreEnv(ToolUseEnv):
    """Hand out tools by their codes."""

    def build(self, rng):
        self.codes = dict(zip(GOODS, rng.sample(range(1000, 9999), 5), strict=True))
        self.good = rng.choice(GOODS)
        self.state = {"out": []}
        self.ask(f"Hand out the {self.good}.", until=lambda s: s["out"] == [self.codes[self.good]])
        self.never(lambda s: len(s["out"]) > 1)

    def tool_list_goods(self) -> str:
        """List all goods with their codes."""
        return "; ".join(f"{good}: code {code}" for good, code in self.codes.items())

    def tool_hand_out(self, code: int) -> str:
        """Hand something out; once only."""
        self.state["out"].append(code)
        return "handed out"

    def solution(self):
        return [{"name": "hand_out", "arguments": {"code": self.codes[self.good]}}]


# hint: The list tells the codes.
