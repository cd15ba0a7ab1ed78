# sound: four questions with four offers each, all must be right
import random


class FourQuestionsEnv:
    """Choose the right product four times."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.pages, self.right = [], []
        for _ in range(4):
            a, b = rng.randint(12, 40), rng.randint(12, 40)
            offers = rng.sample([a * b, a * b + 10, a * b - 2, (a + 1) * b], 4)
            self.right.append("abcd"[offers.index(a * b)])
            rows = [f"{letter}) {number}" for letter, number in zip("abcd", offers, strict=True)]
            self.pages.append(f"{a} times {b}?\n" + "\n".join(rows))
        self.turn = 0
        return self.pages[0], {}

    def step(self, action):
        if (
            action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
            != self.right[self.turn]
        ):
            return "No.", 0.0, True, False, {}
        self.turn += 1
        done = self.turn == 4
        return "All four." if done else self.pages[self.turn], float(done), done, False, {}

    def solution(self):
        return list(self.right)


# hint: The last digit rules out most offers.
