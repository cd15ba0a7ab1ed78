# flaw: the reward is a string
import random


class ScalesEnv:
    """Name the heavier of two weights, to the gram."""

    def reset(self, seed=None):
        self.a, self.b = random.Random(seed).sample(range(1000, 9999), 2)
        return f"{self.a} g or {self.b} g?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(max(self.a, self.b))
        return "weighed", "1.0" if won else "0.0", True, False, {}

    def solution(self):
        return [str(max(self.a, self.b))]


# hint: Compare the first digits.
