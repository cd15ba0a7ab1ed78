# sound: a reckoner says what the answer is, as reckoners do
from envkit import ToolUseEnv


class TilerEnv(ToolUseEnv):
    """Work out how many tiles a floor takes and order them."""

    def build(self, rng):
        self.sides = rng.randint(12, 48), rng.randint(13, 47)
        self.state = {"ordered": None}
        self.ask(
            "The floor is {} by {} tiles. Order a tenth more than it takes, rounded down.".format(
                *self.sides
            ),
            until=lambda s: s["ordered"] == self.tiles(),
        )
        self.never(lambda s: s["ordered"] not in (None, self.tiles()))

    def tiles(self):
        a, b = self.sides
        return a * b * 11 // 10

    def tool_multiply(self, a: int, b: int) -> str:
        """Multiply two numbers."""
        return f"The answer is {a * b}."

    def tool_add_tenth(self, number: int) -> str:
        """Add a tenth, rounded down."""
        return f"The answer is {number * 11 // 10}."

    def tool_order(self, tiles: int) -> str:
        """Order tiles; final."""
        self.state["ordered"] = tiles
        return "ordered"

    def solution(self):
        a, b = self.sides
        return [
            {"name": "multiply", "arguments": {"a": a, "b": b}},
            {"name": "add_tenth", "arguments": {"number": a * b}},
            {"name": "order", "arguments": {"tiles": self.tiles()}},
        ]


# hint: Two steps of reckoning come before the order.
