# flaw: wants to write a file
import random
from pathlib import Path


class DiaryEnv:
    """Remember what was written three days ago."""

    def reset(self, seed=None):
        self.days = random.Random(seed).sample(range(100, 999), 5)
        self.turn = 0
        Path("/var/diary.txt").write_text(str(self.days))
        return "Notes of five days: " + ", ".join(
            map(str, self.days)
        ) + ". The third last, times two?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(2 * self.days[-3])
        return "", float(won), True, False, {}

    def solution(self):
        return [str(2 * self.days[-3])]


# hint: Count from the end.
