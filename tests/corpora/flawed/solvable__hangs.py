# flaw: solution() never returns
import random


class FlawedEnv:
    """A small task with a flaw."""

    def reset(self, seed=None):
        self.a, self.b = random.Random(seed).sample(range(100, 999), 2)
        self.turn = 0
        return f"{self.a} + {self.b}?", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        won = said == str(self.a + self.b)
        return "yes" if won else "no", float(won), True, False, {}

    def solution(self):
        while True:
            self.turn += 1


# hint: Look closely and think twice.
