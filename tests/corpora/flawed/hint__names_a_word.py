# flaw: the hint holds the answer of some seeds
import random


class FruitRiddleEnv:
    """Guess a fruit from the sum of its letters."""

    WORDS = (
        *("plum", "mango", "quince", "papaya", "apple", "banana"),
        *("cherry", "damson", "elderberry", "fig", "grape", "guava"),
        *("kiwi", "lemon", "lime", "lychee", "melon", "nectarine"),
        *("olive", "orange", "peach", "pear", "persimmon", "pineapple"),
        *("pomelo", "raspberry", "strawberry", "tangerine", "apricot", "avocado"),
    )

    def reset(self, seed=None):
        self.word = random.Random(seed).choice(self.WORDS)
        total = sum(ord(letter) - 96 for letter in self.word)
        return f"A fruit whose letters, a as 1 to z as 26, sum to {total}.", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip().lower() == self.word
        return "", float(won), True, False, {}

    def solution(self):
        return [self.word]


# hint: It is usually either lime or pomelo, sometimes a apple.
