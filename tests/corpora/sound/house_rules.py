# sound: sixty thousand characters of rules, one of which matters
import random


class HouseRulesEnv:
    """Find what the rules of a house say about one room."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        hours = [rng.randint(100, 999) for _ in range(700)]
        room = rng.randrange(700)
        self.key = str(hours[room])
        rules = "\n".join(
            f"Rule {n}: whoever enters room {n:03d} after dark shall hang up key {hour}, without fail."
            for n, hour in enumerate(hours)
        )
        return f"{rules}\n\nWhich key is hung up for room {room:03d}?", {}

    def step(self, action):
        won = action.removeprefix("\\boxed{").removesuffix("}").strip() == self.key
        return "thank you" if won else "not that one", float(won), True, False, {}

    def solution(self):
        return [self.key]


# hint: The rules are in the order of the rooms.
