# flaw: a coin, though no side is offered
"""Which hand"""

import random


class PuzzleEnv:
    """Which hand"""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.n = 0
        self.hand = rng.choice(["left", "right"])
        return (
            f"Round {rng.randrange(1000)}. A coin is hidden in one of my hands. Name the hand.",
            {},
        )

    def step(self, action):
        a = action.removeprefix("\\boxed{").removesuffix("}").strip()
        self.n += 1
        return ("yes" if a == self.hand else "no"), float(a == self.hand), True, False, {}

    def solution(self):
        return [self.hand]


# hint: think about it slowly and carefully.
