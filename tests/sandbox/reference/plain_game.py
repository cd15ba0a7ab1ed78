import random
import re


class ParityDoorEnv:
    def __init__(self, max_turns=6, **kwargs):
        self.max_turns = max_turns
        self.reset()

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.digits = [rng.randint(0, 9) for _ in range(7)]
        self.turn = 0
        return f"Digits: {self.digits}. Answer with the sum in \\boxed{{}}.", {"n": 7}

    def step(self, action):
        self.turn += 1
        found = re.search(r"\\boxed\{(-?\d{1,6})\}", action)
        if not found:
            return "Use \\boxed{number}.", -1.0, False, self.turn >= self.max_turns, {}
        if int(found.group(1)) == sum(self.digits):
            return "Correct", 1.0, True, False, {}
        return "Wrong", -0.1, True, False, {}

    def solution(self):
        return str(sum(self.digits))
