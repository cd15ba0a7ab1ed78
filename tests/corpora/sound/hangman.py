# sound: letters are found one by one; a wrong letter costs one of six lives
import random


class HangmanEnv:
    """Find a hidden word letter by letter."""

    WORDS = ("harbour", "lantern", "meadow", "sparrow", "thimble", "cobalt", "juniper", "quarry")

    def reset(self, seed=None):
        self.word = random.Random(seed).choice(self.WORDS)
        self.found, self.lives = set(), 6
        return f"A word of {len(self.word)} letters. Name a letter.", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        if len(said) == 1 and said in self.word:
            self.found.add(said)
        else:
            self.lives -= 1
        if self.found == set(self.word):
            return "The word is complete.", 1.0, True, False, {}
        shown = " ".join(c if c in self.found else "_" for c in self.word)
        return f"{shown} ({self.lives} lives)", 0.0, self.lives == 0, False, {}

    def solution(self):
        return sorted(set(self.word))


# hint: Begin with the vowels and the most common consonants.
