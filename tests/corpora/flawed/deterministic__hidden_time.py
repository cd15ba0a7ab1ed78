# flaw: the hidden number comes from the clock, the text does not
import random
import time


class FlawedEnv:
    """A small task with a flaw."""

    def reset(self, seed=None):
        self.number = time.time_ns() % 1000
        self.turn = 0
        return f"Guess {random.Random(seed).randint(1, 9)}", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}") == str(self.number)
        return f"it was {self.number}", float(won), True, False, {}

    def solution(self):
        return [str(self.number)]


# hint: Look closely and think twice.
