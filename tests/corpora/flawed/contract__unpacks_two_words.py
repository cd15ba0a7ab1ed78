# flaw: expects exactly two words
import random


class FlawedEnv:
    """A small task with a flaw."""

    def reset(self, seed=None):
        self.a, self.b = random.Random(seed).sample(range(100, 999), 2)
        return f"Write the smaller, then the larger: {self.a} {self.b}", {}

    def step(self, action):
        low, high = action.removeprefix("\\boxed{").removesuffix("}").split()
        won = [low, high] == self.solution()[0].split()
        return "yes" if won else "no", float(won), True, False, {}

    def solution(self):
        return [f"{min(self.a, self.b)} {max(self.a, self.b)}"]


# hint: Look closely and think twice.
