# sound: an imported environment without solution(); that check stays unknown
import random


class ReverseEnv:
    """Write a string of letters backwards."""

    def reset(self, seed=None):
        self.text = "".join(random.Random(seed).choices("abcdefgh", k=9))
        return f"Backwards: {self.text}", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}") == self.text[::-1]
        return "yes" if won else "no", float(won), True, False, {}


# hint: Start from the last letter.
