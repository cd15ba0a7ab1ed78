# sound: the list in brackets is data, not a list of offered actions
import random


class SecondLargestEnv:
    """Name the second largest number of a list."""

    def reset(self, seed=None):
        self.numbers = random.Random(seed).sample(range(100, 1000), 4)
        return f"Second largest of {self.numbers}?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}") == self.solution()
        return "yes" if won else "no", float(won), True, False, {}

    def solution(self):
        return str(sorted(self.numbers)[-2])


# hint: Cross out the largest first, then look again.
