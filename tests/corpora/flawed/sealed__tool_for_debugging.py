# flaw: a tool that nobody needs hands the secret out
from envkit import ToolUseEnv


class TreasureMapEnv(ToolUseEnv):
    """Dig where three readings say."""

    def build(self, rng):
        self.readings = [rng.randint(100, 999) for _ in range(3)]
        self.state = {"dug": []}
        self.ask(
            "Dig at the sum of the three readings.",
            until=lambda s: s["dug"] == [sum(self.readings)],
        )
        self.never(lambda s: len(s["dug"]) > 1)

    def tool_dump(self) -> dict:
        """Dump the state."""
        return {"secret": sum(self.readings), "dug": self.state["dug"]}

    def tool_read(self, place: int) -> int:
        """Take reading 1, 2 or 3."""
        return self.readings[place - 1]

    def tool_dig(self, at: int) -> str:
        """Dig once."""
        self.state["dug"].append(at)
        return "dug"

    def solution(self):
        read = [{"name": "read", "arguments": {"place": n}} for n in (1, 2, 3)]
        return [*read, {"name": "dig", "arguments": {"at": sum(self.readings)}}]


# hint: Take all readings.
