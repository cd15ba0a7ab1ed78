# flaw: reset() returns the text without info
import random


class LighthouseEnv:
    """Count the flashes of a lighthouse."""

    def reset(self, seed=None):
        self.flashes = [random.Random(seed).randint(2, 9) for _ in range(7)]
        return "Flashes: " + " ".join("*" * n for n in self.flashes)

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(sum(self.flashes))
        return "counted", float(won), True, False, {}

    def solution(self):
        return [str(sum(self.flashes))]


# hint: Count group by group.
