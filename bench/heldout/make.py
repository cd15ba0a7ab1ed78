"""Writes the held-out set that ships with the project, of three parts.

    pip install -e '.[pools]'
    python -m bench.heldout.make

Programs of the grammar are of families that the embedded policy was taught, none of them among the
programs that it, or SmolLM2, was shown or played. The seeds of the library were written by hand, and are
unlike anything it was taught; the two that the full brief shows to every designer are left out.
Questions of ``reasoning-gym`` (Apache-2.0) are others' tasks at that package's own, easy, settings.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from bench.heldout.dataset import QUESTIONS, SEEDS, HeldoutEnvironment
from envgen.brief import WORKED_EXAMPLE
from envgen.pools.candidate import Unusable
from envgen.pools.packages import read_package
from envgen.seeds import load
from solver.embedded.heldout import heldout
from solver.embedded.novelty import digest, shipped_facts, training_digests
from solver.smollm2 import lessons
from solver.smollm2.warmup import Recipe
from spadekit.errors import BadInput
from spadekit.files import write_atomic

PATH = Path(__file__).parent / "embedded.jsonl"
LONGEST_QUESTION, LONGEST_ANSWER = 300, 32
"""Characters. A small policy's context holds such questions, and its reply such answers."""
LARGEST = 65_536
"""Bytes of a source."""
HINTS = {
    "base_conversion": "Go through ten as the base: find the value first, then divide by the new base.",
    "basic_arithmetic": "Products and quotients come before sums; work from the left.",
    "bf": "Follow the cells step by step; a loop of additions multiplies, a dot prints a letter.",
    "count_bits": "Halve the number again and again, and count the odd ones on the way.",
    "count_primes": "Strike out the multiples of small primes, and count what is left.",
    "decimal_chain_sum": "Write the numbers with the same count of decimals, and keep all of them.",
    "dice": "Count the rolls that reach the sum, divide by all rolls, and reduce the fraction.",
    "family_relationships": "Draw the tree, find both people in it, and mind who is a man or a woman.",
    "gcd": "Take the remainder of the larger by the smaller until nothing remains.",
    "lcm": "Divide the product by what both numbers share.",
    "leg_counting": "Insects have six legs, spiders eight, crabs ten, starfish five, snakes and worms none.",
    "letter_counting": "Go word by word; small and capital letters count alike.",
    "number_sequence": "Look at the differences, and at the sum of the two numbers before.",
    "products": "Multiply by one digit at a time, then add.",
    "simple_equations": "Take the constant to the other side, then divide by the factor.",
    "simple_geometry": "The angles of a polygon add up to a straight angle for each side after the second.",
}
"""A hint for each task taken. All are taken of which the importer makes a program (its answers can be
compared exactly) with no question and no answer longer than the above, at the package's own settings,
which its paper calls easy; so the choice is by length alone, and the version is 0.1.25."""


def programs() -> list[HeldoutEnvironment]:
    """Return the grammar's part."""
    return [
        HeldoutEnvironment(
            id=f"{program.family}-{number:03d}",
            setting=program.setting,
            skill=program.skill,
            family=program.family,
            level=program.level,
            title=program.title,
            source=program.source,
            hint=program.hint,
        )
        for number, program in enumerate(heldout(taught()))
    ]


def taught() -> frozenset[str]:
    """Return the digests of all programs that either policy was shown or played in its training.

    Of the second policy's, twice as many steps count as it takes: its warm-up may go on for longer.
    """
    recipe = Recipe()
    second = lessons.programs(recipe.seed, 2 * recipe.steps, recipe.designs, recipe.plays)
    return training_digests(shipped_facts()) | {digest(program.source) for program in second}


def seeds() -> list[HeldoutEnvironment]:
    """Return the seed library as held-out environments."""
    return [
        HeldoutEnvironment(
            id=f"seed-{seed.name}",
            setting=seed.setting,
            skill=seed.skills[0],
            family=SEEDS,
            level=seed.difficulty,
            title=seed.name.replace("_", " "),
            source=seed.source,
            hint=seed.hint,
        )
        for seed in load()
        if seed.name not in WORKED_EXAMPLE.values()
    ]


def questions() -> list[HeldoutEnvironment]:
    """Return others' tasks as held-out environments. Raises ``BadInput`` without their package."""
    made = []
    for (task, hint), found in zip(
        HINTS.items(), read_package(QUESTIONS, list(HINTS), LARGEST), strict=True
    ):
        if isinstance(found, Unusable):
            raise BadInput(f"{found.place}: {found.detail}; the set was made with version 0.1.25")
        made.append(
            HeldoutEnvironment(
                id=f"{QUESTIONS}-{task}",
                setting="game",
                skill=found.skills[0],
                family=QUESTIONS,
                level=0,
                title=task.replace("_", " "),
                source=found.source,
                hint=hint,
            )
        )
    return made


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PATH)
    out: Path = parser.parse_args().out
    parts = (*programs(), *seeds(), *questions())
    lines = [json.dumps(asdict(one), ensure_ascii=False) for one in parts]
    write_atomic(out, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
