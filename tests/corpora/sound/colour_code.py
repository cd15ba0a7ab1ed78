# sound: the answer alone wins, but only feedback on guesses leads to it
import random


class ColourCodeEnv:
    """Find four coloured pegs from how many are right in each guess."""

    def __init__(self, max_turns=10):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.code = "".join(random.Random(seed).choices("RGBYOV", k=4))
        self.turn = 0
        return "Four pegs from R G B Y O V. Guess, for example RRGB.", {}

    def step(self, action):
        guess = action.removeprefix("\\boxed{").removesuffix("}").strip().upper()
        self.turn += 1
        if guess == self.code:
            return "Solved.", 1.0, True, False, {}
        late = self.turn == self.max_turns
        if len(guess) != 4:
            return "Four letters, please.", 0.0, late, False, {}
        black = sum(a == b for a, b in zip(guess, self.code, strict=True))
        white = sum(min(guess.count(c), self.code.count(c)) for c in "RGBYOV") - black
        return f"{black} in place, {white} elsewhere", 0.0, late, False, {}

    def solution(self):
        return [self.code]


# hint: Keep a list of codes that would have given the same feedback to every guess.
