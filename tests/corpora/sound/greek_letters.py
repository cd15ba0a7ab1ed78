# sound: words outside of ASCII
import random


class GreekWordsEnv:
    """Put Greek letters into the order of their alphabet."""

    NAMES = "\u03b1\u03b2\u03b3\u03b4\u03b5\u03b6\u03b7\u03b8\u03b9\u03ba\u03bb\u03bc"

    def reset(self, seed=None):
        self.row = random.Random(seed).sample(self.NAMES, 7)
        return "Write in order of the alphabet, without blanks: " + "".join(self.row), {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == "".join(sorted(self.row))
        return "\u03bd\u03b1\u03b9" if won else "\u03cc\u03c7\u03b9", float(won), True, False, {}

    def solution(self):
        return ["".join(sorted(self.row))]


# hint: Alpha comes first, and zeta is the sixth.
