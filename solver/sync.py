"""When weights flow: which policy version designs a shard, and which shard is trained on next.

Policy version ``v`` is what training on shards 1 to ``v``, in order, has come to. Shard ``n`` is
designed by version ``n - max_ahead``, rounded down to a multiple of ``every``: a function of the number
and the settings alone, so that two processes that share only the store and the policy directory make the
same run however fast each is and whichever is killed when.

    max_ahead = 1   design 1 │ train 1 │ design 2 │ train 2      what `spadework loop` does, by turns
    max_ahead = 2   design 1 │ design 2 │ design 3 │ design 4    beside each other, one version behind
                             │ train 1  │ train 2  │ train 3

More than 2 gains nothing while rounds and steps take equally long; it evens out ones that do not.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import TypeVar

from solver.config import SyncConfig, TrainConfig
from solver.versions import Versions
from spadekit.errors import BadInput

T = TypeVar("T")


def designs(shard: int, config: SyncConfig) -> int:
    """Return the policy version that designs a shard in a run of two processes."""
    return served(max(0, shard - config.max_ahead), config.every)


def served(newest: int, every: int) -> int:
    """Return the version that the schedule gives the designer: the newest multiple of ``every``."""
    return newest - newest % every


def missing(shard: int, newest: int, config: SyncConfig) -> int:
    """Return how many versions the trainer has to publish before a shard may be designed."""
    return max(0, shard - config.max_ahead - newest)


def next_shard(published: Collection[int], trained: Collection[int]) -> int | None:
    """Return the first shard without its policy version; None while there is none."""
    return min(set(published) - set(trained), default=None)


def check_lag(config: SyncConfig, train: TrainConfig) -> None:
    """Refuse a schedule by which any design would be too old to be trained on: ``BadInput``.

    A shard is trained on from the version before its number, and the oldest designs of the schedule
    count: it would leave out some shards' designs if not all. Where designs are not trained on at all
    (``train.designer_weight`` 0) they may be of any age.
    """
    lag = config.max_ahead - 1 + config.every - 1
    if lag > train.max_lag and train.designer_weight:
        raise BadInput(
            f"sync.max_ahead = {config.max_ahead} and sync.every = {config.every} let designs be up to "
            f"{lag} versions old when they are trained on, and train.max_lag = {train.max_lag} leaves the "
            "oldest out: lower the former or raise the latter"
        )


def check_in_step(versions: Versions) -> None:
    """Refuse a home whose newest version was trained on another shard than its number: ``BadInput``."""
    newest = versions.latest()
    shard = versions.read(newest).shard
    if newest and shard != newest:
        raise BadInput(
            f"policy version {newest} was trained on shard {shard}, not on shard {newest} "
            "(`train --steps`?); self-play needs them in step: use another --home"
        )


async def until(look: Callable[[], T | None], every_s: float, waiting: Callable[[], None]) -> T:
    """Look again and again until something is there, and return it; ``waiting`` is called once."""
    said = False
    while (found := look()) is None:
        if not said:
            waiting()
            said = True
        await asyncio.sleep(every_s)
    return found
