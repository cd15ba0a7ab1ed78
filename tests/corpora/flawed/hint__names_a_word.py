# flaw: the hint holds the answer of some seeds
import random


class FruitRiddleEnv:
    """Guess a fruit from the sum of its letters."""

    WORDS = ("plum", "mango", "quince", "papaya")

    def reset(self, seed=None):
        self.word = random.Random(seed).choice(self.WORDS)
        total = sum(ord(letter) - 96 for letter in self.word)
        return f"A fruit whose letters, a as 1 to z as 26, sum to {total}.", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip().lower() == self.word
        return "", float(won), True, False, {}

    def solution(self):
        return [self.word]


# hint: It is usually either mango or quince or papaya, sometimes a plum.
