# flaw: the whole way stands on the map
import random


class PassEnv:
    """Cross a mountain pass by the right turns."""

    def reset(self, seed=None):
        self.way = random.Random(seed).choices(["north", "east", "south", "west"], k=6)
        self.place = 0
        return f"Cross the pass. Guide's note: {', '.join(self.way)}. Which way first?", {}

    def step(self, action):
        if action.removeprefix("\\boxed{").removesuffix("}").strip() != self.way[self.place]:
            return "An avalanche.", 0.0, True, False, {}
        self.place += 1
        done = self.place == 6
        return "On.", float(done), done, False, {}

    def solution(self):
        return list(self.way)


# hint: Trust the guide.
