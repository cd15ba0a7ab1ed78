"""Programs of a judging set that an arm designed itself, and may have trained on.

The grammar behind the starting policy is finite: now and then a designer writes a program of the held-out
set, with other names. Such an environment says nothing about others, so no arm is judged on it.
"""

from collections.abc import Iterable, Mapping, Sequence

from bench.ablation.work import Work
from bench.heldout.dataset import HeldoutEnvironment
from memory import MemoryConfig, Store
from solver.embedded.novelty import digest
from spadekit.cli import Session

Designed = Mapping[str, frozenset[str]]
"""For each arm, what the programs of all its seeds come down to (``novelty.digest``)."""


def designed(session: Session, works: Sequence[Work]) -> Designed:
    """Return what the arms' stores hold: all that their solvers may have played in training."""
    memory = session.settings.section(MemoryConfig)
    found: dict[str, set[str]] = {}
    for work in works:
        with Store.open(memory.place(work.home), memory) as store:
            records = store.environments()
        found.setdefault(work.arm.name, set()).update(_digests(one.source for one in records))
    return {name: frozenset(digests) for name, digests in found.items()}


def repeated(environments: Iterable[HeldoutEnvironment], known: frozenset[str]) -> frozenset[str]:
    """Return the ids of the environments whose programs are among ``known``."""
    return frozenset(one.id for one in environments if not known.isdisjoint(_digests([one.source])))


def elsewhere(designs: Designed, arm: str) -> frozenset[str]:
    """Return what arms other than ``arm`` designed."""
    return frozenset().union(*(found for name, found in designs.items() if name != arm))


def _digests(sources: Iterable[str]) -> set[str]:
    found = set()
    for source in sources:
        try:
            found.add(digest(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # not what a grammar writes
    return found
