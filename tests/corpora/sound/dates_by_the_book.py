# sound: uses datetime for fixed dates only
import datetime
import random


class DaysBetweenEnv:
    """Count the days between two dates."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.first = datetime.date(1900, 1, 1) + datetime.timedelta(days=rng.randint(0, 40_000))
        self.days = rng.randint(100, 3_000)
        last = self.first + datetime.timedelta(days=self.days)
        return f"How many days lie from {self.first.isoformat()} to {last.isoformat()}?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(self.days)
        return "exactly" if won else "not quite", float(won), True, False, {}

    def solution(self):
        return [str(self.days)]


# hint: Whole years first, and mind the leap days.
