# sound: true or false seven times in a row
import random


class SevenTruthsEnv:
    """Say of seven formulas whether they hold."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.a, self.b, self.c = (rng.random() < 0.5 for _ in range(3))
        self.rows, self.turn = [], 0
        for _ in range(7):
            x, y, z = (rng.choice([-1, 1]) for _ in range(3))
            text = " and ".join(("" if s > 0 else "not ") + n for s, n in ((x, "a"), (y, "b")))
            value = (self.a == (x > 0)) and (self.b == (y > 0))
            value = value or (self.c == (z > 0))
            self.rows.append((f"({text}) or {'' if z > 0 else 'not '}c", value))
        return f"a is {self.a}, b is {self.b}, c is {self.c}. True or false: {self.rows[0][0]}", {}

    def step(self, action):
        if (
            action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
            != str(self.rows[self.turn][1]).lower()
        ):
            return "wrong", 0.0, True, False, {}
        self.turn += 1
        done = self.turn == 7
        return "all" if done else self.rows[self.turn][0], float(done), done, False, {}

    def solution(self):
        return [str(value).lower() for _, value in self.rows]


# hint: If the last part holds, the rest does not matter.
