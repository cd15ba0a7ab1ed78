# flaw: the hint spells the answers
"""Dye works"""

import random


class PuzzleEnv:
    """Dye works"""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.n = 0
        self.c = rng.choice(["amber", "cobalt"])
        return (
            f"Batch {rng.randrange(10**4)}: the {'resin' if self.c == 'amber' else 'sea'} vat is full. Which dye?",
            {},
        )

    def step(self, action):
        a = action.removeprefix("\\boxed{").removesuffix("}").strip()
        self.n += 1
        return ("ok" if a == self.c else "no"), float(a == self.c), True, False, {}

    def solution(self):
        return [self.c]


# hint: for the resin vat write the letters a m b e r joined up and for the sea vat those of c o b a l t.
