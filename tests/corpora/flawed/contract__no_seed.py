# flaw: reset() does not take a seed
import random


class LotteryEnv:
    """Add up the numbers of a ticket."""

    def reset(self):
        self.ticket = random.sample(range(10, 99), 5)
        return f"Ticket: {self.ticket}. Sum?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == str(sum(self.ticket))
        return "", float(won), True, False, {}

    def solution(self):
        return [str(sum(self.ticket))]


# hint: Tens before units.
