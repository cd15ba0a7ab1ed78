# flaw: the text quotes the only word that is needed
import random


class CaveDoorEnv:
    """Open a door in a cave."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.word = "".join(rng.choices("abcdefghij", k=6))
        return f"The door opens to whoever says '{self.word}'.", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == self.word
        return "It opens." if won else "It stays shut.", float(won), True, False, {}

    def solution(self):
        return [self.word]


# hint: Speak clearly.
