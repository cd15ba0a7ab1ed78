# flaw: half of the instances cannot be won
import random


class FlawedEnv:
    """A small task with a flaw."""

    def reset(self, seed=None):
        self.a, self.b = random.Random(seed).sample(range(100, 999), 2)
        self.turn = 0
        return f"{self.a} + {self.b}?", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}")
        won = said == str(self.a + self.b) and self.a % 2 == 0
        return "yes" if won else "no", float(won), True, False, {}

    def solution(self):
        return [str(self.a + self.b)]


# hint: Look closely and think twice.
