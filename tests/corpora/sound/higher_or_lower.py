# sound: every instance looks alike at first; the number is found by asking
import random


class ThermostatEnv:
    """Find a hidden number by asking higher or lower."""

    def __init__(self, max_turns=10):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.number, self.turn = random.Random(seed).randint(1, 700), 0
        return "I think of a number from 1 to 700. Ask; I say above it, below it, or found.", {}

    def step(self, action):
        text = action.removeprefix("\\boxed{").removesuffix("}").strip()
        self.turn += 1
        late = self.turn >= self.max_turns
        try:
            guess = int(text)
        except ValueError:
            return "That is no number.", 0.0, late, False, {}
        if guess == self.number:
            return "found", 1.0, True, False, {}
        return "above it" if guess > self.number else "below it", 0.0, late, False, {}

    def solution(self):
        return [str(self.number)]


# hint: Ask for the middle of what is left, each time.
