"""Which environments a step plays: a pure function of their standings and a seed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """An environment and where it stands (``status`` of ``memory``)."""

    environment: str
    shard: int
    status: str


def choose(
    candidates: Sequence[Candidate], *, shard: int, count: int, replay: float, seed: int
) -> list[str]:
    """Return up to ``count`` environment ids, those to be played first in front.

    Of the trained ``shard`` those at the frontier come first, then unmeasured ones; a share
    ``replay`` of the places goes to frontier environments of older shards, more where the shard
    cannot fill its own. Mastered, hopeless and hint-only ones are never played.
    """
    rng = random.Random(seed)

    def shuffled(status: str, current: bool) -> list[str]:
        found = sorted(
            one.environment
            for one in candidates
            if one.status == status and (one.shard == shard if current else one.shard < shard)
        )
        rng.shuffle(found)
        return found

    current = shuffled("frontier", True) + shuffled("unmeasured", True)
    older = shuffled("frontier", False)
    places = max(count - min(len(older), round(count * replay)), 0)
    current = current[:places]
    return current + older[: count - len(current)]


def instances(environments: Sequence[str], *, groups: int, most: int) -> list[tuple[str, int]]:
    """Spread ``groups`` groups over the environments: (environment, instance number) pairs.

    Every environment has its first instance before any has its second, and none more than ``most``.
    Plays of one environment stand together.
    """
    total = min(groups, most * len(environments))
    share, rest = divmod(total, len(environments)) if environments else (0, 0)
    return [
        (environment, number)
        for place, environment in enumerate(environments)
        for number in range(share + (place < rest))
    ]
