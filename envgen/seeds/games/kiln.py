"""Optimisation: find the best heat and time of a kiln with few firings, where both depend on each
other."""

import random

LEVELS = range(1, 13)


class PotteryKilnEnv:
    """Find the heat and the hours that give the best glaze."""

    def __init__(self, max_turns: int = 9, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Draw a tilted hill of quality and one firing from somewhere on its slope."""
        rng = random.Random(seed)
        self.heat, self.hours = rng.randint(3, 10), rng.randint(3, 10)
        self.steep = rng.randint(2, 4), rng.choice([-3, -2, 2, 3]), rng.randint(2, 4)
        known = [(h, t) for h in LEVELS for t in LEVELS if 15 <= self.quality(h, t) <= 60]
        heat, hours = rng.choice(known)
        self.best = self.quality(heat, hours)
        self.turns_left = self.max_turns
        rules = (
            "A kiln has heat levels 1 to 12 and may burn for 1 to 12 hours. The glaze is worth 100 "
            "points at exactly one setting; away from it the loss grows with the square of the "
            "distance, faster in some directions than in others, and the two settings play "
            "together. Worth never falls below 0.\n"
            f"Your teacher fired heat {heat}, hours {hours}: {self.best} points. "
            "Write, say, fire 4 9. Reach 100; else less than half of the best worth counts."
        )
        return f"{rules}\nFirings left: {self.turns_left}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Fire once and tell what the glaze is worth."""
        words = action.removeprefix("\\boxed{").removesuffix("}").lower().split()
        self.turns_left -= 1
        levels = {str(level): level for level in LEVELS}
        note = "Write fire, a heat and hours, each from 1 to 12."
        if len(words) == 3 and words[0] == "fire" and set(words[1:]) <= set(levels):
            worth = self.quality(levels[words[1]], levels[words[2]])
            self.best = max(self.best, worth)
            note = f"Heat {words[1]}, hours {words[2]}: {worth} points."
        if self.best == 100:
            return f"{note} Flawless.", 1.0, True, False, {}
        if self.turns_left == 0:
            return f"{note} The wood is burnt.", 0.45 * self.best / 100, True, False, {}
        return f"{note}\nFirings left: {self.turns_left}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Fire the best setting at once; a player has to find it."""
        return [f"fire {self.heat} {self.hours}"]

    def quality(self, heat: int, hours: int) -> int:
        """Return the worth of a glaze in points."""
        across, along = heat - self.heat, hours - self.hours
        a, b, c = self.steep
        return max(0, 100 - a * across * across - b * across * along - c * along * along)
