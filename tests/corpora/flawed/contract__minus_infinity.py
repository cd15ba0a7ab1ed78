# flaw: a wrong answer is paid with minus infinity
import random


class CliffPathEnv:
    """Step along a cliff path without falling."""

    def reset(self, seed=None):
        self.path = random.Random(seed).choices(["left", "right"], k=6)
        self.place = 0
        return "Stones loosen on the side you must not take: " + ", ".join(
            "right" if side == "left" else "left" for side in self.path
        ), {}

    def step(self, action):
        if action.removeprefix("\\boxed{").removesuffix("}").strip() != self.path[self.place]:
            return "You fall.", float("-inf"), True, False, {}
        self.place += 1
        done = self.place == 6
        return "Safe.", float(done), done, False, {}

    def solution(self):
        return list(self.path)


# hint: Take the other side each time.
