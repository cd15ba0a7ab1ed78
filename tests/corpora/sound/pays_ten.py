# sound: the win pays ten, which counts as one
import random


class ChangeEnv:
    """Give change with the fewest coins."""

    def reset(self, seed=None):
        self.due = random.Random(seed).randint(23, 99)
        return (
            f"Coins of 1, 7 and 10. Give {self.due} with the fewest coins, largest first, blanks between.",
            {},
        )

    def step(self, action):
        said = action.removeprefix("\\boxed{").removesuffix("}").strip().split()
        coins = [int(word) for word in said if word in ("1", "7", "10")]
        won = len(coins) == len(said) and sum(coins) == self.due and len(coins) == self.fewest()
        return "thanks" if won else "hm", 10.0 if won else -10.0, True, False, {}

    def fewest(self):
        return len(self.solution()[0].split())

    def solution(self):
        plans = [
            [10] * tens + [7] * sevens + [1] * (self.due - 10 * tens - 7 * sevens)
            for tens in range(10)
            for sevens in range((self.due - 10 * tens) // 7 + 1)
            if 10 * tens <= self.due
        ]
        return [" ".join(map(str, min(plans, key=len)))]


# hint: The largest coin first is not always best; try fewer of them.
