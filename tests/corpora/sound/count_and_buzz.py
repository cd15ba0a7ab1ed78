# sound: twenty-five turns by a rule
import random


class CountAndBuzzEnv:
    """Count on, but replace some numbers by a word."""

    def __init__(self, max_turns=25):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.first, self.by = rng.randint(10, 400), rng.randint(3, 9)
        self.turn = 0
        return (
            f"Count from {self.first}, one number a turn; say buzz for what {self.by} divides.",
            {},
        )

    def step(self, action):
        if action.removeprefix("\\boxed{").removesuffix("}").strip().lower() != self.word(
            self.turn
        ):
            return "Wrong.", 0.0, True, False, {}
        self.turn += 1
        done = self.turn == self.max_turns
        return "Go on.", float(done), done, False, {}

    def word(self, turn):
        number = self.first + turn
        return "buzz" if number % self.by == 0 else str(number)

    def solution(self):
        return [self.word(turn) for turn in range(self.max_turns)]


# hint: Find the next number that is divided and then add the divisor.
