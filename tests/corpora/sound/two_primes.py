# sound: very hard to do in the head, and yet a fair task
import random


class TwoPrimesEnv:
    """Take a number apart into two primes."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        primes = [n for n in range(1000, 3000) if all(n % d for d in range(2, int(n**0.5) + 1))]
        self.factors = sorted(rng.sample(primes, 2))
        return f"{self.factors[0] * self.factors[1]} is the product of two primes. Name both.", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().replace(",", " ").split()
        won = sorted(said) == [str(prime) for prime in self.factors]
        return "so it is" if won else "it is not", float(won), True, False, {}

    def solution(self):
        return ["{} {}".format(*self.factors)]


# hint: Look for a square a little above the number from which it differs by a square.
