# sound: after each answer the right one is shown, when its chance has passed
import random


class CapitalQuizEnv:
    """Answer five sums; four must be right."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.sums = [(rng.randint(20, 99), rng.randint(20, 99)) for _ in range(5)]
        self.right, self.turn = 0, 0
        return "Five sums, four must be right. {} + {}?".format(*self.sums[0]), {}

    def step(self, action):
        answer = str(sum(self.sums[self.turn]))
        hit = action.removeprefix("\\boxed{").removesuffix("}").strip() == answer
        self.right += hit
        self.turn += 1
        note = "Right." if hit else f"No, the answer was {answer}."
        if self.turn == 5:
            return note, float(self.right >= 4), True, False, {}
        return note + " Next: {} + {}?".format(*self.sums[self.turn]), 0.0, False, False, {}

    def solution(self):
        return [str(a + b) for a, b in self.sums]


# hint: Add the tens first, then the units.
