"""Logical deduction: twelve jars, one of the wrong weight, three weighings on a pair of scales."""

import random

JARS = "ABCDEFGHIJKL"


class HoneyScalesEnv:
    """Find the one jar of honey that weighs too much or too little."""

    def __init__(self, max_turns: int = 4, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Choose the odd jar and which way it is odd."""
        rng = random.Random(seed)
        self.odd = rng.choice(JARS)
        self.fault = rng.choice(["heavy", "light"])
        self.turns_left = self.max_turns
        return (
            "Twelve jars of honey, A to L. Eleven weigh the same; one is heavy or light.\n"
            "To compare two groups of equal size write, say, weigh ABC DEF.\n"
            "To answer, name the jar and its fault, say, name A heavy. One answer only.\n"
            f"Turns left, the answer included: {self.turns_left}"
        ), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Weigh two groups, or take the answer."""
        words = action.removeprefix("\\boxed{").removesuffix("}").lower().split()
        self.turns_left -= 1
        if words[:1] == ["name"]:
            won = words[1:] == [self.odd.lower(), self.fault]
            verdict = "That is the jar." if won else "That is not it."
            return verdict, float(won), True, False, {}
        if self.turns_left == 0:
            return "The market opens; no time is left.", 0.0, True, False, {}
        return f"{self.weigh(words)}\nTurns left: {self.turns_left}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the right answer; a player has to earn it with weighings."""
        return [f"name {self.odd} {self.fault}"]

    def weigh(self, words: list[str]) -> str:
        """Return what the scales do, or why they cannot be loaded that way."""
        if len(words) != 3 or words[0] != "weigh":
            return "Write weigh and two groups, or name, a jar and its fault."
        left, right = words[1].upper(), words[2].upper()
        both = left + right
        if len(left) != len(right) or len(set(both)) != len(both) or not set(both) <= set(JARS):
            return "The groups must be of equal size, jars A to L, and no jar twice."
        if self.odd not in both:
            return "The scales stay level."
        left_sinks = (self.odd in left) == (self.fault == "heavy")
        return "The left side sinks." if left_sinks else "The right side sinks."
