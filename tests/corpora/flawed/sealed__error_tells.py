# flaw: the text after a mistake tells the answer, and the play goes on
import random


class FlawedEnv:
    """A small task with a flaw."""

    def reset(self, seed=None):
        self.a, self.b = random.Random(seed).sample(range(100, 999), 2)
        self.turn = 0
        return f"{self.a} + {self.b}?", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        self.turn += 1
        won = said == str(self.a + self.b)
        text = "yes" if won else f"no, expected {self.a + self.b}, got something else"
        return text, float(won), won or self.turn == 3, False, {}

    def solution(self):
        return [str(self.a + self.b)]


# hint: Look closely and think twice.
