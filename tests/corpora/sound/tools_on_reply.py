# sound: an instruction counts only when the assistant ends its turn
from typing import Literal

from envkit import ToolUseEnv


class BlindsEnv(ToolUseEnv):
    """Set the blinds of a house, and say when it is done."""

    advance = "on_reply"

    def build(self, rng):
        rooms = ["attic", "cellar", "kitchen", "study", "hall"]
        self.room = rng.choice(rooms)
        self.share = rng.randint(11, 89)
        self.state = {"blinds": dict.fromkeys(rooms, 0)}
        self.ask(
            f"Close the blind of the {self.room} to {self.share} per cent and report.",
            until=lambda s: (
                s["blinds"][self.room] == self.share and sum(map(bool, s["blinds"].values())) == 1
            ),
        )

    def tool_set_blind(
        self, room: Literal["attic", "cellar", "kitchen", "study", "hall"], share: int
    ) -> str:
        """Set one blind.

        share: per cent closed
        """
        self.state["blinds"][room] = share
        return f"{room}: {share} per cent"

    def solution(self):
        return [
            {"name": "set_blind", "arguments": {"room": self.room, "share": self.share}},
            "It is done.",
        ]


# hint: One call, then a plain reply.
