# flaw: draws from the process id as well
import os
import random


class TicketHallEnv:
    """Say which ticket is served after so many others."""

    def reset(self, seed=None):
        rng = random.Random(f"{seed}-{os.getpid()}")
        self.now, self.ahead = rng.randint(100, 900), rng.randint(20, 90)
        return f"Number {self.now} is being served; {self.ahead} are ahead of you. Your number?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(
            self.now + self.ahead + 1
        )
        return "", float(won), True, False, {}

    def solution(self):
        return [str(self.now + self.ahead + 1)]


# hint: Count yourself too.
