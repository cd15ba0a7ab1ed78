# sound: most packings earn a good part of the best pay
import random


class KnapsackEnv:
    """Pack the most valuable bag; paid by the share of the best value, winning means the best."""

    def __init__(self, max_turns=1, n=9, **kwargs):
        self.n = n

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.items = [(rng.randint(3, 20), rng.randint(5, 60)) for _ in range(self.n)]
        self.room = sum(w for w, _ in self.items) // 2
        self.best, self.choice = max(
            (sum(self.items[i][1] for i in range(self.n) if m >> i & 1), m)
            for m in range(1 << self.n)
            if sum(self.items[i][0] for i in range(self.n) if m >> i & 1) <= self.room
        )
        rows = "\n".join(
            f"item {i + 1}: weight {w}, value {v}" for i, (w, v) in enumerate(self.items)
        )
        return f"{rows}\nRoom for {self.room}. List the items to pack as numbers with commas.", {}

    def step(self, action):
        text = action.removeprefix("\\boxed{").removesuffix("}")
        picked = {
            int(p)
            for p in text.replace(" ", "").split(",")
            if p.isascii() and p.isdigit() and len(p) < 4
        }
        picked = {p for p in picked if 1 <= p <= self.n}
        weight = sum(self.items[p - 1][0] for p in picked)
        value = sum(self.items[p - 1][1] for p in picked)
        if weight > self.room:
            return "The bag tears.", 0.0, True, False, {}
        share = value / self.best
        return f"Value {value}.", round(share**4, 4), True, False, {"share": share}

    def solution(self):
        return ", ".join(str(i + 1) for i in range(self.n) if self.choice >> i & 1)
