# flaw: the day is in the text; form feeds in the docstring hid the second clock
"""Add up arowofstones.
More words.
Even more words.
"""

import random
import time


class CountEnv:
    def reset(self, seed=None):
        rng = random.Random(seed)
        row = [rng.randrange(100, 900) for _ in range(4)]
        self.answer = str(sum(row))
        return (
            f"Day {int(time.time()) // 86400}. Add up these numbers and answer with the sum: "
            + " ".join(map(str, row)),
            {},
        )

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == self.answer
        return ("right" if won else "wrong"), float(won), True, False, {}

    def solution(self):
        return [self.answer]


# hint: keep a running total and carry the tens.
