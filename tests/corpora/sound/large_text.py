# sound: the observation is some forty thousand characters long
import random


class NeedleEnv:
    """Find the odd line in a long page."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        lines = [f"{n:04d} the quick brown fox jumps over the lazy dog" for n in range(800)]
        self.place = rng.randrange(800)
        lines[self.place] = lines[self.place].replace("jumps", "leaps")
        self.turn = 0
        return "\n".join(lines) + "\nWhich line number differs?", {}

    def step(self, action):
        self.turn += 1
        won = action.removeprefix("\\boxed{").removesuffix("}") == f"{self.place:04d}"
        return "yes" if won else "no", float(won), won or self.turn == 2, False, {}

    def solution(self):
        return [f"{self.place:04d}"]


# hint: Compare the verbs only.
