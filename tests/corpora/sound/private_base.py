# sound: a private base class ends in Env too
import random


class _TableEnv:
    """Shared parts."""

    def reset(self, seed=None):
        self.draw(random.Random(seed))
        return self.question(), {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == self.answer()
        return "right" if won else "wrong", float(won), True, False, {}

    def solution(self):
        return [self.answer()]


class TimeTableEnv(_TableEnv):
    """Say when a train arrives."""

    def draw(self, rng):
        self.start, self.minutes = rng.randint(300, 900), rng.randint(70, 400)

    def question(self):
        return f"It leaves at {self.start // 60}:{self.start % 60:02} and takes {self.minutes} min. Arrival?"

    def answer(self):
        end = self.start + self.minutes
        return f"{end // 60}:{end % 60:02}"


# hint: Add whole hours first.
