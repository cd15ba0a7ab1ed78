# sound: pays the share of words that stand in the right place
import random


class SortWordsEnv:
    """Sort words by their last letters."""

    WORDS = ("plum", "fig", "pear", "lime", "kiwi", "date", "melon", "quince", "apple", "cherry")

    def reset(self, seed=None):
        self.words = random.Random(seed).sample(self.WORDS, 6)
        return "Sort by the word read backwards, blanks between: " + " ".join(self.words), {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().split()
        share = sum(a == b for a, b in zip(said, self.answer(), strict=False)) / 6
        return f"{share:.0%} in place", share if len(said) == 6 else 0.0, True, False, {}

    def answer(self):
        return sorted(self.words, key=lambda word: word[::-1])

    def solution(self):
        return [" ".join(self.answer())]


# hint: Write each word backwards first, then sort as in a dictionary.
