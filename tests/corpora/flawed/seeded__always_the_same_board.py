# flaw: the generator has a seed of its own
import random


class ChessClockEnv:
    """Say how much time is left on a chess clock."""

    def reset(self, seed=None):
        rng = random.Random(2024)
        self.total, self.moves = rng.randint(500, 900), [rng.randint(5, 60) for _ in range(7)]
        return f"{self.total} seconds; moves took {self.moves}. What is left?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(
            self.total - sum(self.moves)
        )
        return "", float(won), True, False, {}

    def solution(self):
        return [str(self.total - sum(self.moves))]


# hint: Sum the moves first.
