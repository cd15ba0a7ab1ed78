"""Jails that are started ahead: ready, but without a source yet."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Final

from sandbox.faults import SandboxFault
from sandbox.jail import Jail

_KNOWN: Final = 64


class Spares:
    """Keeps up to ``most`` jails ready, of the hash seeds that were asked for at least twice.

    A jail's start is nearly all of what opening a source takes, and does not depend on the source.
    Whoever opens one source only pays for no spare. ``start`` makes a jail for a hash seed.
    """

    def __init__(self, most: int, start: Callable[[int], Coroutine[Any, Any, Jail]]) -> None:
        self._most = most
        self._start = start
        self._asked: Counter[int] = Counter()
        self._waiting: dict[int, asyncio.Task[Jail]] = {}
        self._unwanted: list[asyncio.Task[None]] = []
        self._closed = False

    async def take(self, hash_seed: int) -> Jail:
        """Return a fresh jail, a spare one if there is; raises ``SandboxFault``."""
        spare = self._waiting.pop(hash_seed, None)
        jail: Jail | None = None
        if spare is not None:
            try:
                jail = await asyncio.shield(spare)
            except SandboxFault:
                jail = None
            except asyncio.CancelledError:
                self._unwanted.append(asyncio.create_task(_end(spare)))
                raise
        if jail is not None and not jail.alive:
            await jail.close()
            jail = None
        if jail is None:
            jail = await self._start(hash_seed)
        self._remember(hash_seed)
        return jail

    async def close(self) -> None:
        """End every spare."""
        self._closed = True
        spares, self._waiting = list(self._waiting.values()), {}
        await asyncio.gather(*(_end(spare) for spare in spares), *self._unwanted)

    def _remember(self, hash_seed: int) -> None:
        if len(self._asked) >= _KNOWN and hash_seed not in self._asked:
            self._asked.clear()
        self._asked[hash_seed] += 1
        if (
            self._asked[hash_seed] > 1
            and hash_seed not in self._waiting
            and len(self._waiting) < self._most
            and not self._closed
        ):
            self._waiting[hash_seed] = asyncio.create_task(self._start(hash_seed))


async def _end(spare: "asyncio.Task[Jail]") -> None:
    try:
        jail = await spare
    except SandboxFault:  # whoever takes the place of a spare is told
        return
    await jail.close()
