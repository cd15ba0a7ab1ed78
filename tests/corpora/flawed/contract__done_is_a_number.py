# flaw: terminated is a number, not a boolean
import random


class KeyRingEnv:
    """Pick the key whose number fits the lock."""

    def reset(self, seed=None):
        self.lock, self.turn = random.Random(seed).randint(10_000, 99_999), 0
        return f"The lock shows {self.lock} upside down: {str(self.lock)[::-1]}.", {}

    def step(self, action):
        self.turn += 1
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(self.lock * 3)
        return "click" if won else "no", float(won), int(won or self.turn == 3), False, {}

    def solution(self):
        return [str(self.lock * 3)]


# hint: The key is three times the lock.
