# sound: rewards are the integers 0 and 1
import random


class WeekdayEnv:
    """Find the day of the week some days ahead."""

    DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.turn, self.asks = 0, [(rng.randrange(7), rng.randint(30, 900)) for _ in range(3)]
        return self.ask(), {}

    def ask(self):
        day, ahead = self.asks[self.turn]
        return f"Today is {self.DAYS[day].title()}. What day is it in {ahead} days?"

    def step(self, action):
        if (
            action.removeprefix("\\boxed{").removesuffix("}").strip().lower()
            != self.solution()[self.turn]
        ):
            return "no", 0, True, False, {}
        self.turn += 1
        return ("yes", 1, True, False, {}) if self.turn == 3 else (self.ask(), 0, False, False, {})

    def solution(self):
        return [self.DAYS[(day + ahead) % 7] for day, ahead in self.asks]


# hint: Only the rest of a division by seven matters.
