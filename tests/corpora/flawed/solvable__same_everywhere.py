# flaw: the reference says the same whatever the instance
import random


class HiddenGemEnv:
    """Name the place of the gem from its clue."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.x, self.y = rng.randint(0, 20), rng.randint(0, 20)
        return f"x + y = {self.x + self.y}, x - y = {self.x - self.y}. Say 'x y'.", {}

    def step(self, action):
        good = action.removeprefix("\\boxed{").removesuffix("}").split() == [
            str(self.x),
            str(self.y),
        ]
        return "Done.", float(good), True, False, {}

    def solution(self):
        return ["3 4"]
