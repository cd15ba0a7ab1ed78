"""Language understanding: carry out a customer's winding orders at a shelf of jars, to the letter."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

COLOURS = ("red", "green", "blue")
LIDS = ("cork", "tin")


@dataclass(frozen=True)
class Jar:
    """One jar; ``place`` counts from the left, ``size`` is in spoons and never equal for two."""

    letter: str
    colour: str
    lid: str
    size: int
    place: int


Choice = tuple[str, list[Jar]]  # words and the jars they mean


class JarShelfEnv:
    """Take exactly the jars from the shelf that a winding order means."""

    def __init__(self, max_turns: int = 3, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Fill the shelf and make up three orders, each about what the ones before have left."""
        rng = random.Random(seed)
        sizes = rng.sample(range(2, 30), 9)
        jars = [
            Jar(letter, rng.choice(COLOURS), rng.choice(LIDS), size, place)
            for place, (letter, size) in enumerate(zip("ABCDEFGHI", sizes, strict=True))
        ]
        shelf = ", ".join(f"{j.letter} {j.colour} {j.lid} {j.size}" for j in jars)
        self.orders: list[tuple[str, str]] = []
        while len(self.orders) < 3:
            text, taken = self.order(rng, jars)
            left_for_later = 2 * (3 - len(self.orders)) - 1
            if 2 <= len(taken) <= len(jars) - left_for_later:
                self.orders.append((text, " ".join(jar.letter for jar in taken)))
                jars = [jar for jar in jars if jar not in taken]
        self.done = 0
        rules = (
            "Jars on a shelf from left to right, with colour, lid and size in spoons: "
            f"{shelf}.\nA customer gives three orders, each about the jars that still stand "
            "there; after each one they close up. Answer with the letters of the jars you take "
            "off the shelf, say, A C. A mistake ends it."
        )
        return f"{rules}\n\n{self.orders[0][0]}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Compare the letters with what the order means."""
        letters = action.removeprefix("\\boxed{").removesuffix("}").upper().replace(",", " ")
        if sorted(letters.split()) != self.orders[self.done][1].split():
            return "That is not what was meant.", 0.0, True, False, {}
        self.done += 1
        if self.done == len(self.orders):
            return "The customer is content.", 1.0, True, False, {}
        if self.done == self.max_turns:
            return "The shop closes.", 0.0, True, False, {}
        return f"Exactly. And next: {self.orders[self.done][0]}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the letters of each order."""
        return [letters for _, letters in self.orders]

    def order(self, rng: random.Random, jars: list[Jar]) -> Choice:
        """Make up an order and what it takes off the shelf."""
        words, chosen = self.exception(rng, *self.kind(rng, jars))
        if rng.random() < 0.5:
            return f"Give me {words}.", chosen
        taken = [jar for jar in jars if jar not in chosen]
        return f"I want everything there is apart from these: {words}.", taken

    def kind(self, rng: random.Random, jars: list[Jar]) -> Choice:
        """Choose jars by what they are like or where they stand."""
        colour, other = rng.sample(COLOURS, 2)
        lid = rng.choice(LIDS)
        beside = {
            near.letter
            for pair in pairwise(jars)
            for jar, near in (pair, pair[::-1])
            if jar.colour == colour
        }
        tests: dict[str, Callable[[Jar], bool]] = {
            f"the jars that are not {colour}": lambda jar: jar.colour != colour,
            f"the jars with a {lid} lid": lambda jar: jar.lid == lid,
            f"the {colour} jars and the {other} ones": lambda jar: jar.colour in (colour, other),
            f"the jars that are neither {colour} nor closed with {lid}": lambda jar: (
                jar.colour != colour and jar.lid != lid
            ),
            f"the jars that are {colour} or closed with {lid}, but not both": lambda jar: (
                (jar.colour == colour) != (jar.lid == lid)
            ),
            f"the jars that now stand right beside a {colour} one": lambda jar: (
                jar.letter in beside
            ),
        }
        words = rng.choice(list(tests))
        return words, [jar for jar in jars if tests[words](jar)]

    def exception(self, rng: random.Random, words: str, chosen: list[Jar]) -> Choice:
        """Narrow a choice down with an afterthought."""
        if not chosen:
            return words, chosen
        small = min(chosen, key=lambda jar: jar.size)
        large = max(chosen, key=lambda jar: jar.size)
        two = sorted(chosen, key=lambda jar: jar.size)[-2:]
        thoughts = {
            ", except the smallest of them": [jar for jar in chosen if jar != small],
            ", save for the one furthest to the left": chosen[1:],
            ", but only those that hold ten spoons or more": [j for j in chosen if j.size >= 10],
            ", though if they are more than three, then only the two largest of them": (
                [jar for jar in chosen if jar in two] if len(chosen) > 3 else chosen
            ),
            ", but not those to the right of the largest of them": [
                jar for jar in chosen if jar.place <= large.place
            ],
        }
        thought = rng.choice(list(thoughts))
        return words + thought, thoughts[thought]
