# sound: pays by how even a split is; full pay for the best one only
import random


class EvenLoadsEnv:
    """Share stones between two boats as evenly as can be."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.stones = [rng.randint(11, 99) for _ in range(9)]
        total = sum(self.stones)
        splits = ([n for n in range(9) if mask >> n & 1] for mask in range(1, 256))
        self.best = min(splits, key=lambda s: abs(total - 2 * sum(self.stones[n] for n in s)))
        rows = ", ".join(f"{n}: {weight}" for n, weight in enumerate(self.stones))
        return f"Stones by number and weight: {rows}. Name the stones of one boat.", {}

    def gap(self, chosen):
        return abs(sum(self.stones) - 2 * sum(self.stones[n] for n in chosen))

    def step(self, action):
        chosen = {
            int(word)
            for word in action.removeprefix("\\boxed{").removesuffix("}").strip().split()
            if word in list("012345678")
        }
        over = self.gap(chosen) - self.gap(self.best)
        return f"The boats differ by {self.gap(chosen)}.", max(0.0, 1 - over / 20), True, False, {}

    def solution(self):
        return [" ".join(map(str, self.best))]


# hint: Start from any split and swap stones whose difference is half the gap.
