# sound: twelve possible answers; a guess wins one in twelve, which is allowed
import random


class MonthAEnv:
    """Tell a month."""

    L = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]

    def __init__(self, max_turns=1, **kwargs):
        self.max_turns = 1

    def reset(self, seed=None):
        r = random.Random(seed)
        self.a, self.b, self.c = r.randint(100, 9999), r.randint(20, 999), r.randint(3, 99)
        self.ans = self.L[self.a % 12]
        return f"It is January. {self.a} months go by. Which month is it?", {}

    def step(self, action):
        ok = action.replace("\\boxed{", "").replace("}", "").strip().lower() == self.ans.lower()
        return ("Right." if ok else "Wrong."), float(ok), True, False, {}

    def solution(self):
        return [self.ans]


# hint: Only a rest after division matters here.
