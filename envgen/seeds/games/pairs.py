"""Memory recall: twelve cards face down, turned two at a time, until all pairs are found."""

import random

PICTURES = ("owl", "key", "bell", "moon", "ship", "rose", "fox", "drum", "leaf", "crab")


class PairsEnv:
    """Find six pairs among twelve cards that lie face down."""

    def __init__(self, max_turns: int = 13, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Deal two cards of each of six pictures."""
        rng = random.Random(seed)
        self.cards = rng.sample(PICTURES, 6) * 2
        rng.shuffle(self.cards)
        self.open: set[int] = set()
        self.turns_left = self.max_turns
        return (
            "Twelve cards lie face down, numbered 1 to 12; each picture is there twice. Each turn, "
            "name two cards to turn over, for example 3 8. Equal ones are taken away, others are "
            f"turned back.\nTurns left: {self.turns_left}"
        ), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Turn two cards over and show them this once."""
        words = action.removeprefix("\\boxed{").removesuffix("}").split()
        self.turns_left -= 1
        note = self.turn_over([place for place in range(12) if str(place + 1) in words], len(words))
        if len(self.open) == 12:
            return f"{note} All pairs are found.", 1.0, True, False, {}
        if self.turns_left == 0:
            return f"{note} The cards are put away.", 0.0, True, False, {}
        return f"{note} Turns left: {self.turns_left}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Turn over each pair at once, as somebody would who has seen all cards."""
        firsts = [place for place, card in enumerate(self.cards) if card in self.cards[place + 1 :]]
        pairs = [(first, self.cards.index(self.cards[first], first + 1)) for first in firsts]
        return [f"{first + 1} {second + 1}" for first, second in pairs]

    def turn_over(self, places: list[int], asked: int) -> str:
        """Show two cards and take them away when they are equal."""
        if asked != 2 or len(places) != 2:
            return "Name two different cards by their numbers."
        if self.open & set(places):
            return "One of those is taken away already."
        one, two = (self.cards[place] for place in places)
        shown = f"Card {places[0] + 1} is the {one}, card {places[1] + 1} is the {two}."
        if one != two:
            return f"{shown} They are turned back."
        self.open |= set(places)
        return f"{shown} A pair!"
