# flaw: the class is gone when the file has run
import random


class SignpostEnv:
    """Follow a signpost."""

    def reset(self, seed=None):
        self.way = random.Random(seed).choice(["north", "south"])
        return "Which way?", {}

    def step(self, action):
        return "", 0.0, True, False, {}


del SignpostEnv

# hint: Read the sign.
