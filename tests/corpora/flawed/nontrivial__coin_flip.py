# flaw: one of two offered words is right
import random


class FlawedEnv:
    """A small task with a flaw."""

    def reset(self, seed=None):
        self.side = random.Random(seed).choice(["heads", "tails"])
        return "The coin is in the air: heads or tails?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}") == self.side
        return "yes" if won else "no", float(won), True, False, {}

    def solution(self):
        return [self.side]


# hint: Look closely and think twice.
