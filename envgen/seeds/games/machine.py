"""Mathematical reasoning: feed a machine a few numbers, find its rule, and reckon far beyond."""

import random


class NumberMachineEnv:
    """Find the rule of a machine and say what it does with numbers it was never fed."""

    def __init__(self, max_turns: int = 6, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw the three numbers of the rule and the two questions."""
        rng = random.Random(seed)
        self.square = rng.choice([-3, -2, 2, 3, 4, 5])
        self.times, self.plus = rng.randint(-20, 20), rng.randint(-50, 50)
        self.far = rng.randint(60, 250)
        self.sought = rng.randint(40, 120)
        while self.sought == self.far:
            self.sought = rng.randint(40, 120)
        self.answered = 0
        self.turns_left = self.max_turns
        rules = (
            "A machine takes a whole number x from 0 to 9 and gives a times x times x, plus b times "
            "x, plus c; a, b and c are whole numbers and stay the same, and a is not 0.\n"
            "Feed it with, say, feed 4. Then answer with, say, answer 120. "
            f"First question: what would it give for x = {self.far}?"
        )
        return f"{rules}\nTurns left, both answers included: {self.turns_left}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Feed the machine, or judge an answer."""
        words = action.removeprefix("\\boxed{").removesuffix("}").lower().split()
        self.turns_left -= 1
        if words[:1] == ["answer"]:
            if words[1:] != [self.solution()[self.answered].removeprefix("answer ")]:
                return "The machine disagrees.", 0.0, True, False, {}
            self.answered += 1
            if self.answered == 2:
                return "The machine has no secrets left.", 1.0, True, False, {}
            made = self.made(self.sought)
            note = f"Right. Second question: for which x above 9 would it give {made}?"
        elif len(words) == 2 and words[0] == "feed" and words[1] in list("0123456789"):
            note = f"{words[1]} goes in, {self.made(int(words[1]))} comes out."
        else:
            note = "Write feed and a number from 0 to 9, or answer and a number."
        if self.turns_left == 0:
            return "The machine stops.", 0.0, True, False, {}
        return f"{note}\nTurns left: {self.turns_left}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Answer both questions; a player has to feed the machine first."""
        return [f"answer {self.made(self.far)}", f"answer {self.sought}"]

    def made(self, number: int) -> int:
        """Return what the machine makes of a number."""
        return self.square * number * number + self.times * number + self.plus
