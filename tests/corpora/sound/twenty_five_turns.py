# sound: the only winning play takes all of 25 turns
import random


class LongCorridorEnv:
    """Follow a rule of turns down a long corridor."""

    def __init__(self, max_turns=25):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.way = [rng.choice("LR") for _ in range(25)]
        self.place = 0
        return "Read from the right, the signs say: " + " ".join(self.way[::-1]) + ". Next?", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().upper()
        if said != self.way[self.place]:
            return "A wall.", 0.0, True, False, {}
        self.place += 1
        done = self.place == len(self.way)
        return f"Door {self.place} opens.", float(done), done, False, {}

    def solution(self):
        return list(self.way)


# hint: The signs are given in reverse; begin with the last one.
