# flaw: evaluates whatever is said
import random


class CountdownEnv:
    """Reach the target with the numbers."""

    def __init__(self, max_turns=3, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.n = [rng.randint(2, 12) for _ in range(4)]
        self.target = self.n[0] * self.n[1] + self.n[2] - self.n[3]
        self.turn = 0
        return f"Use {self.n} once each to make {self.target}.", {}

    def step(self, action):
        self.turn += 1
        expr = action.removeprefix("\\boxed{").removesuffix("}")
        value = eval(expr)
        return (
            str(value),
            float(value == self.target),
            self.turn >= self.max_turns or value == self.target,
            False,
            {},
        )

    def solution(self):
        a, b, c, d = self.n
        return [f"{a}*{b}+{c}-{d}"]
