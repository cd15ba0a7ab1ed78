# sound: a wrong answer is paid by its closeness, so a mean play earns a good part of the reward
import random


class WeighByEyeEnv:
    """Estimate the sum of four weights."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.weights = [rng.randint(20, 99) for _ in range(4)]
        self.guess = sum(self.weights) + rng.choice([-9, -6, 6, 9])
        return (
            "Four weights: "
            + ", ".join(map(str, self.weights))
            + f'. Somebody says "{self.guess}". '
            "What do they weigh together?"
        ), {}

    def step(self, action):
        text = action.removeprefix("\\boxed{").removesuffix("}").strip()
        total = sum(self.weights)
        if not (text.isdecimal() and text.isascii() and len(text) < 6):
            return "Write a number.", 0.0, True, False, {}
        error = abs(int(text) - total)
        return f"Off by {error}.", max(0.0, 1 - 0.05 * error), True, False, {}

    def solution(self):
        return [str(sum(self.weights))]


# hint: Pair the weights so that the last digits make tens.
