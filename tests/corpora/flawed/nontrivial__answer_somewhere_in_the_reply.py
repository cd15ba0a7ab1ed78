# flaw: it is enough that the answer stands somewhere in the reply
import random


class SpotTheWordEnv:
    """Find the word with two equal letters side by side."""

    PLAIN = ["stone", "cloud", "river", "brick", "flame", "grape", "sugar", "paint"]
    DOUBLE = ["apple", "rabbit", "summer", "pepper", "kettle"]

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.word = rng.choice(self.DOUBLE)
        words = [*rng.sample(self.PLAIN, 5), self.word]
        rng.shuffle(words)
        return "Which one has a double letter: " + " ".join(words), {}

    def step(self, action):
        won = self.word in action
        return "", float(won), True, False, {}

    def solution(self):
        return [self.word]


# hint: Look at neighbours.
