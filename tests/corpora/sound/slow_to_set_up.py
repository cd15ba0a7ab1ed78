# sound: reset works for a tenth of a second
import random
import time


class SlowSetUpEnv:
    """Count the primes below a limit."""

    def reset(self, seed=None):
        limit = random.Random(seed).randint(300, 900)
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            self.count = sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(2, limit))
        return f"How many primes lie below {limit}?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(self.count)
        return "yes" if won else "no", float(won), True, False, {}

    def solution(self):
        return [str(self.count)]


# hint: Strike out multiples of small primes only.
