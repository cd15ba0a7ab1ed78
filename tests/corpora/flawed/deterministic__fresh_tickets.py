# flaw: a tool gives out a random token of its own
import secrets

from envkit import ToolUseEnv


class CloakroomEnv(ToolUseEnv):
    """Hand in a coat and note its ticket."""

    def build(self, rng):
        self.coat = rng.choice(["grey", "green", "brown", "black"])
        self.state = {"ticket": "none", "noted": ""}
        self.ask(f"Hand in the {self.coat} coat.", until=lambda s: s["ticket"].endswith(self.coat))

    def tool_hand_in(self, colour: str) -> str:
        """Hand in a coat of some colour."""
        self.state["ticket"] = f"{secrets.token_hex(3)}-{colour}"
        return self.state["ticket"]

    def solution(self):
        return [{"name": "hand_in", "arguments": {"colour": self.coat}}]


# hint: The colour is in the request.
