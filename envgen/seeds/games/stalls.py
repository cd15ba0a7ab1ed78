"""Logical deduction: six cows, six stalls, and a farmer who only says how they stand to another."""

import random
from itertools import permutations

COWS = ("Bella", "Clover", "Daisy", "Flora", "Heidi", "Rosie")

Clue = tuple[str, str, str]  # kind and two cows
ORDERS = list(permutations(COWS))


class CowStallsEnv:
    """Work out which cow stands in which of six stalls, and lead them home."""

    def __init__(self, max_turns: int = 6, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw an order of the cows, and clues until no other order fits them."""
        rng = random.Random(seed)
        self.order = rng.choice(ORDERS)
        clues: list[Clue] = []
        fitting = list(ORDERS)
        while len(fitting) > 1:
            one, two = rng.sample(COWS, 2)
            clue = rng.choice(["left", "next", "apart", "gap"]), one, two
            rest = [order for order in fitting if self.fits(order, clue)]
            if self.fits(self.order, clue) and len(rest) < len(fitting):
                clues.append(clue)
                fitting = rest
        self.led = 0
        self.turns_left = self.max_turns
        rules = (
            "Six cows stand in a row of stalls, numbered 1 to 6 from left to right. They are "
            f"called {', '.join(COWS)}.\n"
            + "\n".join(self.sentence(clue) for clue in clues)
            + "\nName the cow of stall 1, then that of stall 2, and so on. One mistake ends it."
        )
        return f"{rules}\nWho stands in stall 1?", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Compare one name with the stall's cow."""
        name = action.removeprefix("\\boxed{").removesuffix("}").strip().title()
        self.turns_left -= 1
        if name != self.order[self.led]:
            return "An offended moo.", 0.0, True, False, {}
        self.led += 1
        if self.led == len(COWS):
            return "All cows are home.", 1.0, True, False, {}
        if self.turns_left == 0:
            return "Night has fallen.", 0.0, True, False, {}
        return f"Yes. Who stands in stall {self.led + 1}?", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the cows from stall 1 to stall 6."""
        return list(self.order)

    def fits(self, order: tuple[str, ...], clue: Clue) -> bool:
        """Say whether a clue is true of an order."""
        kind, one, two = clue
        distance = order.index(two) - order.index(one)
        return {
            "left": distance > 0,
            "next": abs(distance) == 1,
            "apart": abs(distance) > 2,
            "gap": abs(distance) == 2,
        }[kind]

    def sentence(self, clue: Clue) -> str:
        """Write a clue as the farmer says it."""
        kind, one, two = clue
        return {
            "left": f"{one} stands somewhere to the left of {two}.",
            "next": f"{one} and {two} are neighbours.",
            "apart": f"Two cows or more stand between {one} and {two}.",
            "gap": f"Exactly one cow stands between {one} and {two}.",
        }[kind]
