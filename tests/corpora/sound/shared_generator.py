# sound: draws from the shared generator after seeding it
import random


class DiceTotalEnv:
    """Add up dice."""

    def reset(self, seed=None):
        random.seed(seed)
        self.dice = [random.randint(1, 6) for _ in range(12)]
        return "Dice: " + "-".join(map(str, self.dice)) + ". Total?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}") == str(sum(self.dice))
        return "yes" if won else "no", float(won), True, False, {}

    def solution(self):
        return [str(sum(self.dice))]


# hint: Count how often each face shows, then multiply.
