"""Causal inference: stop one wheel of a mill at a time and find out which wheel drives which."""

import random

WHEELS = "ABCDEF"


class OldMillEnv:
    """Find out which wheel drives which in an old mill."""

    def __init__(self, max_turns: int = 6, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Hang the belts: every wheel but the first is driven by exactly one other."""
        rng = random.Random(seed)
        self.driver: dict[str, str] = {}
        while len(set(self.driver.values())) != 3:  # neither one long chain nor one big star
            order = rng.sample(WHEELS, len(WHEELS))
            self.first = order[0]
            self.driver = {
                wheel: rng.choice(order[:place]) for place, wheel in enumerate(order) if place
            }
        self.turns_left = self.max_turns
        rules = (
            f"A mill has the wheels {', '.join(WHEELS)}. The river turns {self.first}; each other "
            "wheel is driven by a belt from exactly one wheel, and the belts are hidden.\n"
            "Hold a wheel for a moment, say, hold B, and see which wheels stand still. "
            "At last name the driver of every other wheel, say, claim B<A C<A D<C and so on."
        )
        return f"{rules}\nTurns left, the claim included: {self.turns_left}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Hold a wheel, or take the claim."""
        words = action.removeprefix("\\boxed{").removesuffix("}").upper().split()
        self.turns_left -= 1
        if words[:1] == ["CLAIM"]:
            won = sorted(words[1:]) == self.belts()
            verdict = "The belts hang just so." if won else "The belts hang otherwise."
            return verdict, float(won), True, False, {}
        if self.turns_left == 0:
            return "The miller goes home.", 0.0, True, False, {}
        if len(words) == 2 and words[0] == "HOLD" and words[1] in list(WHEELS):
            still = [wheel for wheel in WHEELS if words[1] in self.line(wheel)]
            note = f"Standing still: {' '.join(still)}."
        else:
            note = "Write hold and one wheel, or claim and five belts."
        return f"{note}\nTurns left: {self.turns_left}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the true claim; a player has to earn it by holding wheels."""
        return ["claim " + " ".join(self.belts())]

    def belts(self) -> list[str]:
        """Return all belts as a claim writes them."""
        return sorted(f"{wheel}<{driver}" for wheel, driver in self.driver.items())

    def line(self, wheel: str) -> list[str]:
        """Return the wheel, its driver, the driver of that, and so on."""
        line = [wheel]
        while line[-1] in self.driver:
            line.append(self.driver[line[-1]])
        return line
