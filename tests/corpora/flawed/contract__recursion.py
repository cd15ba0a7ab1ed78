# flaw: walks through the reply letter by letter, recursively
import random


def count(text):
    return 0 if not text else (text[0] == "(") + count(text[1:])


class BracketEnv:
    """Write as many opening brackets as are asked for."""

    def reset(self, seed=None):
        self.a, self.b = random.Random(seed).sample(range(3, 40), 2)
        return f"Write {self.a} plus {self.b} opening brackets and nothing else.", {}

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        won = count(said) == self.a + self.b == len(said)
        return "counted", float(won), True, False, {}

    def solution(self):
        return ["(" * (self.a + self.b)]


# hint: Add first.
