"""A second held-out set: what the arms themselves designed late, each arm judged on the others' only.

The fixed set is a draw of the grammar that taught the policy; late shards are what trained designers
made of it, the frontier of solvers other than the one that is judged.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

from bench.ablation.repeats import Designed, elsewhere, repeated
from bench.ablation.work import Work
from bench.heldout.dataset import HeldoutEnvironment
from memory import EnvironmentRecord, MemoryConfig, Store
from spadekit.cli import Session
from spadekit.files import write_atomic
from spadekit.seeds import derive

RUN = "others"
"""The run under which an arm's results on this set are kept."""
LATE = 4
"""Environments are taken from the last quarter of an arm's shards."""


def write(
    session: Session, works: Sequence[Work], each: int, designs: Designed, path: Path
) -> bool:
    """Write up to ``each`` environments of every arm and seed that designs; False without any.

    None of them is a program that another arm designed too (``designs``). The same stores give the
    same file.
    """
    chosen = [
        one
        for work in works
        if not work.arm.pool
        for one in _late(session, work, each, elsewhere(designs, work.arm.name))
    ]
    if chosen:
        lines = [json.dumps(asdict(one), ensure_ascii=False) for one in chosen]
        write_atomic(path, ("\n".join(lines) + "\n").encode())
    return bool(chosen)


def held(work: Work, record: EnvironmentRecord) -> HeldoutEnvironment:
    """Return an environment of an arm; its family is the arm that designed it."""
    return HeldoutEnvironment(
        id=f"{work.name}-{record.id}",
        setting=record.setting,
        skill=record.skills[0],
        family=work.arm.name,
        level=record.difficulty,
        title=record.title,
        source=record.source,
        hint=record.hint,
    )


def _late(
    session: Session, work: Work, each: int, known: frozenset[str]
) -> list[HeldoutEnvironment]:
    memory = session.settings.section(MemoryConfig)
    with Store.open(memory.place(work.home), memory) as store:
        numbers = store.numbers()
        late = numbers[-max(1, len(numbers) // LATE) :]
        records = [one for number in late for one in store.shard(number).environments]
    found = {one.id: one for one in (held(work, record) for record in records)}
    own = sorted(found.keys() - repeated(found.values(), known))
    rng = Random(derive(work.seed, "others", work.arm.name))
    return [found[name] for name in rng.sample(own, min(each, len(own)))]
