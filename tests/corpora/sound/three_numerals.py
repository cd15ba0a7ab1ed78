# sound: three answers in a row, wrong ones may be tried again
import random


class NumeralEnv:
    """Read three Roman numerals."""

    MARKS = (
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    )

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.numbers = rng.sample(range(20, 300), 3)
        self.done, self.turn = 0, 0
        return "Read the numeral: " + self.roman(self.numbers[0]), {}

    def step(self, action):
        self.turn += 1
        if action.removeprefix("\\boxed{").removesuffix("}").strip() == str(
            self.numbers[self.done]
        ):
            self.done += 1
        if self.done == 3:
            return "All read.", 1.0, True, False, {}
        text = "Read the numeral: " + self.roman(self.numbers[self.done])
        return text, 0.0, self.turn == 6, False, {}

    def roman(self, number):
        text = ""
        for value, mark in self.MARKS:
            text += mark * (number // value)
            number %= value
        return text

    def solution(self):
        return list(map(str, self.numbers))


# hint: A smaller mark before a larger one is taken away.
