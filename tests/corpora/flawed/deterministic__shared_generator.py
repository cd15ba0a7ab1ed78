# flaw: draws from the shared generator, which only the sandbox seeds
import random


class CargoMixEnv:
    """Balance two barges with given loads."""

    def __init__(self, max_turns=2, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        if seed is not None:
            self.rng = random.Random(seed)
        while True:
            self.w = [random.randint(5, 60) for _ in range(7)]
            best = min(
                (abs(sum(self.w) - 2 * sum(w for i, w in enumerate(self.w) if m >> i & 1)), m)
                for m in range(1, 64)
            )
            if best[0] == 0:
                break
        self.m = best[1]
        self.t = 0
        return (
            f"Loads in tons: {self.w} (places 1 to 7). Which places go on the first barge, so that both carry the same?",
            {},
        )

    def step(self, action):
        self.t += 1
        try:
            p = {
                int(x)
                for x in action.replace("\\boxed{", "").replace("}", "").replace(",", " ").split()
            }
        except ValueError:
            p = set()
        ok = bool(p) and p <= set(range(1, 8)) and 2 * sum(self.w[i - 1] for i in p) == sum(self.w)
        return "level" if ok else "tilts", float(ok), ok or self.t >= 2, False, {}

    def solution(self):
        return " ".join(str(i + 1) for i in range(7) if self.m >> i & 1)


# hint: Work out half of the total and find a group that makes it.
