# flaw: the shortest win takes thirty turns, a policy has twenty-five
import random


class LongStairEnv:
    """Climb thirty steps by a rule."""

    def reset(self, seed=None):
        self.steps = random.Random(seed).choices(["left foot", "right foot"], k=30)
        self.place = 0
        return "Feet from the top down: " + ", ".join(self.steps[::-1]), {}

    def step(self, action):
        if action.removeprefix("\\boxed{").removesuffix("}").strip() != self.steps[self.place]:
            return "You trip.", 0.0, True, False, {}
        self.place += 1
        done = self.place == 30
        return "Up.", float(done), done, False, {}

    def solution(self):
        return list(self.steps)


# hint: Begin at the end.
