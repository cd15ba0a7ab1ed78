# flaw: compares lower case with a word in upper case
import random


class PlateEnv:
    """Read a number plate backwards."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.plate = "".join(rng.choices("ABCDEFGHJK", k=3)) + str(rng.randint(100, 999))
        return f"Plate {self.plate}, backwards?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip().lower() == self.plate[::-1]
        return "", float(won), True, False, {}

    def solution(self):
        return [self.plate[::-1]]


# hint: Digits come first.
