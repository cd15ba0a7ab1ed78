# flaw: the order of a set of words decides the instance
import random


class FlawedEnv:
    """A small task with a flaw."""

    def reset(self, seed=None):
        words = list({"oak", "elm", "ash", "fir", "yew", "bay"})
        self.word = words[random.Random(seed).randrange(6)]
        return f"Which tree is number {words.index(self.word)}?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}") == self.word
        return f"it was {self.word}", float(won), True, False, {}

    def solution(self):
        return [self.word]


# hint: Look closely and think twice.
