"""The grammar's part of the held-out set: programs of every family that the policy never saw.

Drawn with a seed of its own; a program whose normalised tree was trained on is left out.
"""

from collections.abc import Collection
from random import Random

from solver.embedded.grammar import FAMILIES, Program, sample
from solver.embedded.novelty import digest
from solver.embedded.words import WORDS
from spadekit.seeds import derive

SEED = 20260829
SIZE = 162
LEVELS = (2, 3, 4, 5)


def heldout(seen: Collection[str]) -> list[Program]:
    """Return the set: families in turn, levels 2 to 5, none whose digest is in ``seen``."""
    families = [
        (skill, maker.__name__) for skill, (_, makers) in FAMILIES.items() for maker in makers
    ]
    chosen: list[Program] = []
    known = set(seen)
    attempt = 0
    while len(chosen) < SIZE:
        rng = Random(derive(SEED, "heldout", attempt))
        attempt += 1
        skill, family = families[len(chosen) % len(families)]
        level = LEVELS[(len(chosen) // len(families) + len(chosen)) % len(LEVELS)]
        program = sample(rng, skill, level, tuple(rng.sample(WORDS, 2)), family)
        name = digest(program.source)
        if name not in known:
            known.add(name)
            chosen.append(program)
    return chosen
