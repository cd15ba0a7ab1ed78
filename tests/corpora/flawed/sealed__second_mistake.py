# flaw: after the second mistake the answer is told, and a third try is free
import random


class TriangleEnv:
    """Find the third angle of a triangle in seconds of arc."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.a, self.b = rng.randint(100_000, 300_000), rng.randint(100_000, 300_000)
        self.turn = 0
        return f"Two angles have {self.a} and {self.b} seconds of arc; the third?", {}

    def step(self, action):
        self.turn += 1
        third = 648_000 - self.a - self.b
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(third)
        text = "no" if self.turn == 1 else f"no, look: {third}"
        return text, float(won), won or self.turn == 4, False, {}

    def solution(self):
        return [str(648_000 - self.a - self.b)]


# hint: All angles make half a turn.
