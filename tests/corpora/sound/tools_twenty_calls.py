# sound: the reference needs twenty turns
from envkit import ToolUseEnv


class BellTowerEnv(ToolUseEnv):
    """Ring a row of twenty bells from a sheet."""

    max_turns = 25

    def build(self, rng):
        self.row = [rng.randint(1, 6) for _ in range(20)]
        self.state = {"rung": []}
        self.ask(
            "Ring the bells " + " ".join(map(str, self.row)) + ", one call each.",
            until=lambda s: s["rung"] == self.row,
        )
        self.never(lambda s: s["rung"] != self.row[: len(s["rung"])])

    def tool_ring(self, bell: int) -> str:
        """Ring one bell, 1 to 6."""
        self.state["rung"].append(bell)
        return "dong"

    def solution(self):
        return [{"name": "ring", "arguments": {"bell": bell}} for bell in self.row]


# hint: Count as you ring.
