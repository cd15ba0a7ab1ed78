# sound: the answer stands in the text among eleven others, anywhere
import random


class TallestTowerEnv:
    """Name the tallest of many towers."""

    def __init__(self, max_turns=1, **kwargs):
        pass

    def reset(self, seed=None):
        rng = random.Random(seed)
        heights = rng.sample(range(100, 1000), 12)
        self.answer = max(heights)
        return "Towers of these heights stand in a row: " + ", ".join(
            map(str, heights)
        ) + ". Which height is the largest?", {}

    def step(self, action):
        said = action.replace("\\boxed{", "").replace("}", "").strip()
        return "Thank you.", float(said == str(self.answer)), True, False, {}

    def solution(self):
        return [str(self.answer)]
