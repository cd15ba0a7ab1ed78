# flaw: hash() of a string differs from process to process
import random


class LockerEnv:
    """Find the locker of a name."""

    def reset(self, seed=None):
        self.name = random.Random(seed).choice(["Ola", "Per", "Siv", "Tor", "Una", "Ylva"])
        self.base = hash(self.name) % 5000
        return f"{self.name} has base {self.base}; the locker is 7 more. Which?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(self.base + 7)
        return "", float(won), True, False, {}

    def solution(self):
        return [str(self.base + 7)]


# hint: Mind the carry.
