# sound: what is asked for stands in the text, but not as it has to be said
import random


class BackwardsEnv:
    """Say a sentence with its words in reverse order."""

    WORDS = [
        "the",
        "old",
        "miller",
        "saw",
        "seven",
        "grey",
        "geese",
        "cross",
        "his",
        "frozen",
        "pond",
        "before",
        "dawn",
        "today",
    ]

    def reset(self, seed=None):
        self.words = random.Random(seed).sample(self.WORDS, 9)
        return "Last word first: " + " ".join(self.words), {}

    def step(self, action):
        won = (
            action.removeprefix("\\boxed{").removesuffix("}").strip().lower().split()
            == self.words[::-1]
        )
        return "well said" if won else "muddled", float(won), True, False, {}

    def solution(self):
        return [" ".join(reversed(self.words))]


# hint: Count the words so that none is lost.
