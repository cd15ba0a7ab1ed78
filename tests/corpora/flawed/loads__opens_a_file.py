# flaw: reads a word list that no jail has
import random
from pathlib import Path

WORDS = Path("/usr/share/dict/words").read_text().split()


class RhymeEnv:
    """Find a rhyme."""

    def reset(self, seed=None):
        self.word = random.Random(seed).choice(WORDS)
        return f"What rhymes with {self.word}?", {}

    def step(self, action):
        return "", float(action[-3:] == self.word[-3:]), True, False, {}


# hint: Listen to the end of the word.
