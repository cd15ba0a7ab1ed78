# flaw: an unknown command ends the whole program
import random
import sys


class ShellGameEnv:
    """Follow a pea under three cups through many swaps."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.cups = rng.sample(range(100, 999), 6)
        self.pea, swaps = 0, [rng.sample(range(6), 2) for _ in range(8)]
        for a, b in swaps:
            self.pea = b if self.pea == a else a if self.pea == b else self.pea
        rows = ", ".join(f"{self.cups[a]} with {self.cups[b]}" for a, b in swaps)
        return (
            f"The pea lies under {self.cups[0]}. Swaps by place of {self.cups}: {rows}. Where is it?",
            {},
        )

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        if not said.isdigit():
            sys.exit("numbers only")
        won = said == str(self.cups[self.pea])
        return "lifted", float(won), True, False, {}

    def solution(self):
        return [str(self.cups[self.pea])]


# hint: Follow one cup only.
