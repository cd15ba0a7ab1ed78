# sound: five rounds, paid by the share that was right
import random
from typing import Any

GROUPS = {
    "fruit": ["apple", "pear", "plum", "cherry", "grape", "melon", "fig"],
    "metal": ["iron", "copper", "zinc", "tin", "lead", "silver", "nickel"],
    "bird": ["owl", "robin", "crow", "heron", "swan", "finch", "wren"],
    "cloth": ["linen", "silk", "wool", "cotton", "denim", "felt", "velvet"],
}


class OddOneOutEnv:
    """Find the words that do not belong, five rounds in a row."""

    def __init__(self, rounds: int = 5, **kwargs: Any):
        self.rounds = rounds

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.questions = []
        for _ in range(self.rounds):
            a, b = rng.sample(sorted(GROUPS), 2)
            odd = rng.choice(GROUPS[b])
            words = rng.sample(GROUPS[a], 5) + [odd]
            rng.shuffle(words)
            self.questions.append((words, odd))
        self.round, self.score = 0, 0
        return self._ask("Name the word that does not belong."), {}

    def _ask(self, lead):
        return f"{lead}\nRound {self.round + 1} of {self.rounds}: " + ", ".join(
            self.questions[self.round][0]
        )

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
        self.score += said == self.questions[self.round][1]
        self.round += 1
        if self.round == self.rounds:
            return (
                f"Score {self.score}/{self.rounds}",
                self.score / self.rounds,
                True,
                False,
                {"score": self.score},
            )
        return self._ask("Noted."), 0.0, False, False, {}

    def solution(self):
        return [odd for _, odd in self.questions]
