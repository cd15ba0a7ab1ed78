"""Memory recall: follow who holds what through a busy morning, then answer from memory."""

import random

NAMES = ("Ana", "Ben", "Caro", "Dov")
WARES = ("pears", "eggs", "figs")


class MarketMorningEnv:
    """Listen to a market morning and remember who went home with what."""

    def __init__(self, max_turns: int = 11, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Make up eight events and three questions about how things stand after them."""
        rng = random.Random(seed)
        held = {(name, ware): 0 for name in NAMES for ware in WARES}
        self.events = []
        for name in rng.sample(NAMES, 4):
            ware, count = rng.choice(WARES), rng.randint(4, 15)
            held[name, ware] += count
            self.events.append(f"{name} buys {count} {ware}.")
        for _ in range(4):
            giver, ware = rng.choice([key for key, count in held.items() if count > 2])
            taker = rng.choice([name for name in NAMES if name != giver])
            count = rng.randint(1, held[giver, ware] - 1)
            held[giver, ware] -= count
            held[taker, ware] += count
            self.events.append(f"{giver} gives {count} {ware} to {taker}.")
        asked = rng.sample([key for key, count in held.items() if count], 3)
        self.questions = [f"How many {ware} has {name} at the end?" for name, ware in asked]
        self.answers = [str(held[key]) for key in asked]
        self.turn = 0
        return (
            "Eight things happen at the market, one per turn; reply next to hear the next one. "
            "Nothing is said twice. Then come three questions; answer each with a number. "
            f"All three must be right.\n\n{self.events[0]}"
        ), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Tell the next event, or judge an answer and ask on."""
        said = action.removeprefix("\\boxed{").removesuffix("}").strip()
        self.turn += 1
        if self.turn < len(self.events):
            return self.events[self.turn], 0.0, False, False, {}
        asked = self.turn - len(self.events)
        if asked > 0 and said != self.answers[asked - 1]:
            return "That is not right.", 0.0, True, False, {}
        if asked == len(self.questions):
            return "All three are right.", 1.0, True, False, {}
        if self.turn >= self.max_turns:
            return "The market closes.", 0.0, True, False, {}
        return self.questions[asked], 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Hear all eight events, then give the three answers."""
        return ["next"] * len(self.events) + self.answers
