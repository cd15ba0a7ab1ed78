# flaw: ten possible answers, some of them likelier; a guess wins a fifth
import random


class LastAEnv:
    """Tell the last digit."""

    L = []

    def __init__(self, max_turns=1, **kwargs):
        self.max_turns = 1

    def reset(self, seed=None):
        r = random.Random(seed)
        self.a, self.b, self.c = r.randint(100, 9999), r.randint(20, 999), r.randint(3, 99)
        self.ans = str(pow(self.a, self.b, 10))
        return f"Last digit of {self.a} to the power {self.b}?", {}

    def step(self, action):
        ok = action.replace("\\boxed{", "").replace("}", "").strip().lower() == self.ans.lower()
        return ("Right." if ok else "Wrong."), float(ok), True, False, {}

    def solution(self):
        return [self.ans]


# hint: Only a rest after division matters here.
