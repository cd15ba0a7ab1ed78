# flaw: the process id is in the text
import os
import random


class DoorCodeEnv:
    """Read a code backwards."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.code = str(rng.randint(1000, 9999))
        return f"Session {os.getpid() % 1000}: say {self.code} backwards.", {}

    def step(self, action):
        return "ok", float(action.strip("\\boxed{} ") == self.code[::-1]), True, False, {}

    def solution(self):
        return [self.code[::-1]]
