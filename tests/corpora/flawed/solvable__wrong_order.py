# flaw: the reference sends before it packs, and never sends again
from envkit import ToolUseEnv


class PackingEnv(ToolUseEnv):
    """Pack some goods and send them."""

    def build(self, rng):
        self.count = rng.randint(12, 90)
        self.state = {"packed": 0, "sent": 0}
        self.ask(f"Pack and send {self.count} jars.", until=lambda s: s["sent"] == self.count)

    def tool_pack(self, jars: int) -> str:
        """Pack jars."""
        self.state["packed"] = jars
        return "packed"

    def tool_send(self) -> str:
        """Send what is packed."""
        self.state["sent"] = self.state["packed"]
        return "sent"

    def solution(self):
        return [
            {"name": "send", "arguments": {}},
            {"name": "pack", "arguments": {"jars": self.count}},
        ]


# hint: Packing comes first.
