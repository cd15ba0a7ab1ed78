# sound: as the reference project writes them: only a boxed action counts, anything else is invalid
import random
import re


class AnagramEnv:
    """Unscramble a word."""

    WORDS = (
        *("lantern", "harbour", "orchard", "thimble", "compass", "gravel", "feather", "saddle"),
        *("anchor", "basket", "candle", "drawer", "engine", "furrow", "garden", "hammer"),
        *("island", "jacket", "kettle", "ladder", "meadow", "needle", "oyster", "pepper"),
        *("quarry", "ribbon", "shovel", "turnip", "velvet", "walnut", "yellow", "zipper"),
    )

    def __init__(self, max_turns=3, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.word = rng.choice(self.WORDS)
        letters = list(self.word)
        rng.shuffle(letters)
        self.turn = 0
        return "Unscramble " + "".join(letters) + ". Answer in a box.", {}

    def step(self, action):
        self.turn += 1
        found = re.search(r"\\boxed\{(\w+)\}", action)
        if found and found[1].lower() == self.word:
            return "Yes.", 1.0, True, False, {}
        late = self.turn >= self.max_turns
        return "No." if found else "Use a box.", 0.0, False, late, {}

    def solution(self):
        return ["\\boxed{" + self.word + "}"]


# hint: Look for common endings first and set those letters aside.
