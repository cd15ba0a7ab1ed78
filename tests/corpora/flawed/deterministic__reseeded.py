# flaw: seeds the shared generator anew from the system
import random


class BirdCountEnv:
    """Add up three counts of birds."""

    def reset(self, seed=None):
        random.seed()
        self.counts = [random.randint(10, 99) for _ in range(3)]
        return f"Counts: {self.counts}. Together?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(sum(self.counts))
        return "", float(won), True, False, {}

    def solution(self):
        return [str(sum(self.counts))]


# hint: Add the units first.
