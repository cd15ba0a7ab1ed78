"""Pattern recognition: three squares of woven figures, each with the last figure missing."""

import random

NUMBERS = ("1", "2", "3")
FILLS = ("hollow", "striped", "solid")
SHAPES = ("ring", "star", "cross")

Square = list[list[str]]


class LoomEnv:
    """Weave the missing figure of three patterns."""

    def __init__(self, max_turns: int = 4, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Weave three squares; number, fill and shape follow a rule of their own in each."""
        rng = random.Random(seed)
        self.squares = [self.weave(rng) for _ in range(3)]
        self.woven = 0
        self.turns_left = self.max_turns
        rules = (
            "Nine figures make a square by a rule; find the last one. A figure has a number "
            f"({', '.join(NUMBERS)}), a fill ({', '.join(FILLS)}) and a shape "
            f"({', '.join(SHAPES)}). Write, say, 2 hollow star. One mistake is forgiven."
        )
        return f"{rules}\n\n{self.show()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Compare one figure."""
        figure = action.removeprefix("\\boxed{").removesuffix("}").lower().split()
        self.turns_left -= 1
        right = figure == self.squares[self.woven][2][2].split()
        self.woven += right
        if self.woven == 3:
            return "The cloth is finished.", 1.0, True, False, {}
        if self.turns_left < 3 - self.woven:
            return "The thread breaks.", 0.0, True, False, {}
        note = "It fits." if right else "It does not fit."
        return f"{note}\n{self.show()}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the last figure of each square."""
        return [square[2][2] for square in self.squares]

    def weave(self, rng: random.Random) -> Square:
        """Return a square in which each of the three features follows a drawn rule."""
        features = []
        for values in (NUMBERS, FILLS, SHAPES):
            order = rng.sample(values, 3)
            down, across = rng.choice([(1, 0), (0, 1), (1, 1), (2, 1)])
            features.append(
                [[order[(down * row + across * col) % 3] for col in range(3)] for row in range(3)]
            )
        return [[" ".join(f[row][col] for f in features) for col in range(3)] for row in range(3)]

    def show(self) -> str:
        """Show the square at hand without its last figure."""
        rows = [", ".join(row) for row in self.squares[self.woven]]
        rows[2] = rows[2].rpartition(", ")[0] + ", ?"
        return f"Square {self.woven + 1} of 3\n" + "\n".join(rows)
