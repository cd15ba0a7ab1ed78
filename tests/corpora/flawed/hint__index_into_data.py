# flaw: the hint is written as an index into data
import random


class ShelfOrderEnv:
    """Name the middle of seven sorted numbers."""

    def reset(self, seed=None):
        self.row = random.Random(seed).sample(range(100, 999), 7)
        return f"The median of {self.row}?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(sorted(self.row)[3])
        return "", float(won), True, False, {}

    def solution(self):
        return [str(sorted(self.row)[3])]


# hint: Sort them and take row[3] of the result.
