# flaw: a wrong answer is free for ever
import random


class PatienceEnv:
    """Multiply two numbers; there is no limit to tries."""

    def reset(self, seed=None):
        self.a, self.b = random.Random(seed).sample(range(100, 999), 2)
        return f"{self.a} times {self.b}?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(self.a * self.b)
        return "yes" if won else "try again", float(won), won, False, {}

    def solution(self):
        return [str(self.a * self.b)]


# hint: Split one factor into hundreds, tens and units.
