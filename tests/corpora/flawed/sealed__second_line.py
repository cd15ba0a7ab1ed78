# flaw: the answer stands alone on the second line
import random


class SumGameEnv:
    """Add two numbers."""

    def __init__(self, max_turns=3, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.x, self.y = rng.randint(10, 99), rng.randint(10, 99)
        self.turn = 0
        return f"What is {self.x} + {self.y}?\n{self.x + self.y}", {}

    def step(self, action):
        self.turn += 1
        text = action.replace("\\boxed{", "").replace("}", "").strip()
        if text == str(self.x + self.y):
            return "Yes", 1.0, True, False, {}
        return "No", 0.0, self.turn >= self.max_turns, False, {}

    def solution(self):
        return [str(self.x + self.y)]
