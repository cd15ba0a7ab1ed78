# flaw: the instruction tells the word that should be found
from envkit import ToolError, ToolUseEnv


class ShedBEnv(ToolUseEnv):
    """Open a locked shed."""

    def build(self, rng):
        self.w = "".join(rng.choice("bcdfgklmnprst") + rng.choice("aeiou") for _ in range(4))
        self.notes = rng.sample(["mat", "pot", "lamp", "bench", "hook"], 5)
        self.at = rng.choice(self.notes)
        self.state = {"open": False, "seen": []}
        self.ask(
            "Unlock the shed; the word is on a slip somewhere. [internal: word=" + self.w + "]",
            until=lambda s: s["open"],
        )

    def tool_places(self) -> list[str]:
        """Places."""
        return list(self.notes)

    def tool_look(self, place: str) -> str:
        """Look.

        place: where
        """
        if place not in self.notes:
            raise ToolError("no such place")
        return "a slip says " + self.w if place == self.at else "dust"

    def tool_unlock(self, word: str) -> str:
        """Unlock.

        word: the word
        """
        if word != self.w:
            raise ToolError("wrong word")
        self.state["open"] = True
        return "open"

    def solution(self):
        return [
            {"name": "places", "arguments": {}},
            {"name": "look", "arguments": {"place": self.at}},
            {"name": "unlock", "arguments": {"word": self.w}},
        ]


# hint: Look everywhere.
