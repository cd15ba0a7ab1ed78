"""Which environments a brief shows: a seeded choice among those at the frontier, and ones to avoid."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory.schema import EnvironmentRecord, StandingRecord

_AVOID = ("mastered", "hopeless", "hint_only")


@dataclass(frozen=True)
class Examples:
    """What a brief shows: environments at the frontier, and ones to stay away from."""

    frontier: tuple[EnvironmentRecord, ...]
    avoid: tuple[EnvironmentRecord, ...]


def choose(
    ids: Sequence[str], latest: Mapping[str, StandingRecord], seed: int, n: int
) -> tuple[list[str], list[str]]:
    """Return up to ``n`` ids to show and up to ``n`` to avoid, drawn by ``seed``.

    Those to show come from the ``4 n`` frontier environments of greatest regret, those to avoid
    from all that are mastered, hopeless or hint-only. The order of ``ids`` does not matter.
    """
    known = sorted(one for one in ids if one in latest)
    frontier = [one for one in known if latest[one].status == "frontier"]
    frontier.sort(key=lambda one: -latest[one].regret)
    avoid = [one for one in known if latest[one].status in _AVOID]
    chance = random.Random(seed)
    best = frontier[: 4 * n]
    chosen = chance.sample(best, min(n, len(best)))
    return chosen, chance.sample(avoid, min(n, len(avoid)))
