# sound: solution() returns one plain string, and the answer is compared as text
import random


class DigitSumEnv:
    """Add up the digits of a number."""

    def reset(self, seed=None):
        self.number = random.Random(seed).randint(10**6, 10**9)
        return f"What is the sum of the digits of {self.number}?", {}

    def step(self, action):
        answer = action.removeprefix("\\boxed{").removesuffix("}").strip()
        won = answer == self.solution()
        return "right" if won else "wrong", float(won), True, False, {}

    def solution(self):
        return str(sum(map(int, str(self.number))))


# hint: Go through the number from left to right and keep a running sum.
