# sound: a clock is read, but nothing that a player sees depends on it
import random
import time


class StopwatchEnv:
    """Multiply two numbers."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.began = time.monotonic()
        self.a, self.b = rng.randint(11, 99), rng.randint(11, 99)
        return f"{self.a} times {self.b}?", {"began": self.began}

    def step(self, action):
        took = time.monotonic() - self.began
        won = action.removeprefix("\\boxed{").removesuffix("}") == str(self.a * self.b)
        return "yes" if won else "no", float(won), True, False, {"seconds": took}

    def solution(self):
        return [str(self.a * self.b)]


# hint: Split one factor into tens and ones.
