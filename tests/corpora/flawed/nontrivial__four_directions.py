# flaw: four possible answers that the text does not list; a guess wins a quarter
import random


class TurnAEnv:
    """Tell a direction."""

    L = ["north", "east", "south", "west"]

    def __init__(self, max_turns=1, **kwargs):
        self.max_turns = 1

    def reset(self, seed=None):
        r = random.Random(seed)
        self.a, self.b, self.c = r.randint(100, 9999), r.randint(20, 999), r.randint(3, 99)
        self.ans = self.L[(self.a + self.b) % 4]
        return (
            f"You look north and turn right {self.a} times, then right again {self.b} times, always by a quarter. Where do you look?",
            {},
        )

    def step(self, action):
        ok = action.replace("\\boxed{", "").replace("}", "").strip().lower() == self.ans.lower()
        return ("Right." if ok else "Wrong."), float(ok), True, False, {}

    def solution(self):
        return [self.ans]


# hint: Only a rest after division matters here.
