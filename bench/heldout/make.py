"""Writes the held-out set that ships with the project: programs of the grammar, and the seed library.

    python -m bench.heldout.make

The programs are of families that the embedded policy was taught, drawn apart from its training data;
the seeds were written by hand, and are unlike anything it was taught.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from bench.heldout.dataset import HeldoutEnvironment
from envgen.seeds import load
from solver.embedded.heldout import heldout
from solver.embedded.novelty import shipped_facts, training_digests
from spadekit.files import write_atomic

PATH = Path(__file__).parent / "embedded.jsonl"
SEEDS = "seed library"
"""The family of the seeds."""


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
        for number, program in enumerate(heldout(training_digests(shipped_facts())))
    ]


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
    ]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PATH)
    out: Path = parser.parse_args().out
    lines = [json.dumps(asdict(one), ensure_ascii=False) for one in (*programs(), *seeds())]
    write_atomic(out, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
