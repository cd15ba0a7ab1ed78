# flaw: the hint names an answer
import random


class FlawedEnv:
    """A small task with a flaw."""

    def reset(self, seed=None):
        self.word = random.Random(seed).choice(["willow", "copper"])
        self.turn = 0
        return f"Which word has the letters {sorted(self.word)}?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}") == self.word
        return "yes" if won else "no", float(won), True, False, {}

    def solution(self):
        return [self.word]


# hint: It is a tree or a metal; try Willow.
