# flaw: no method is named tool_, so there are no tools
from envkit import ToolUseEnv


class PostBoxEnv(ToolUseEnv):
    """Open the right post box."""

    def build(self, rng):
        self.k = rng.randint(10000, 99999)
        self.state = {"opened": None}
        self.ask("Open the box with my name.", until=lambda s: s["opened"] == self.k)

    def find_box(self, name: str) -> int:
        """Find a box.

        name: whose
        """
        return self.k

    def open_box(self, number: int) -> str:
        """Open a box.

        number: which
        """
        self.state["opened"] = number
        return "open"

    def solution(self):
        return [
            {"name": "find_box", "arguments": {"name": "me"}},
            {"name": "open_box", "arguments": {"number": self.k}},
        ]


# hint: Find first.
