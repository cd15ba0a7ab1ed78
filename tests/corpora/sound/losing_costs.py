# sound: a wrong answer earns minus one, and an early one is forgiven
import random


class PrimeGapEnv:
    """Name the next prime."""

    def reset(self, seed=None):
        self.start, self.turn = random.Random(seed).randint(500, 5000), 0
        return f"Which is the smallest prime above {self.start}?", {}

    def step(self, action):
        self.turn += 1
        if action.removeprefix("\\boxed{").removesuffix("}") == self.solution()[0]:
            return "yes", 1.0, True, False, {}
        return "no", -1.0, self.turn == 2, False, {}

    def solution(self):
        n = self.start + 1
        while any(n % d == 0 for d in range(2, int(n**0.5) + 1)):
            n += 1
        return [str(n)]


# hint: Only odd numbers can be prime; test small divisors up to the root.
