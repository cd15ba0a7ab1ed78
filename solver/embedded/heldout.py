"""Writes the fixed held-out set: programs of every family that the embedded policy never saw.

    python -m solver.embedded.heldout

Drawn with a seed of its own; a program whose normalised tree was trained on is left out.
"""

import argparse
import json
from collections.abc import Collection
from pathlib import Path
from random import Random

from solver.embedded.grammar import FAMILIES, Program, sample
from solver.embedded.novelty import digest, shipped_facts, training_digests
from solver.embedded.words import WORDS
from spadekit.files import write_atomic
from spadekit.seeds import derive

SEED = 20260829
SIZE = 72
LEVELS = (2, 3, 4, 5)
PATH = Path(__file__).parents[2] / "bench" / "heldout" / "embedded.jsonl"


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


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PATH)
    out: Path = parser.parse_args().out
    lines = [
        json.dumps(
            {
                "id": f"{program.family}-{number:02d}",
                "setting": program.setting,
                "skill": program.skill,
                "family": program.family,
                "level": program.level,
                "title": program.title,
                "source": program.source,
                "hint": program.hint,
            },
            ensure_ascii=False,
        )
        for number, program in enumerate(heldout(training_digests(shipped_facts())))
    ]
    write_atomic(out, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
