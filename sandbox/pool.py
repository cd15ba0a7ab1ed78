"""Warm jails, keyed by their source: bounded, the least recently used goes first."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from sandbox.jail import Jail
from sandbox.sandbox import Sandbox


class _Slot:
    """One source's jail: being started, in use by ``users`` leases, or idle."""

    def __init__(self, starting: "asyncio.Task[Jail]") -> None:
        self.starting = starting
        self.users = 0

    def dead(self) -> bool:
        """Whether its start failed or its jail has ended."""
        if not self.starting.done():
            return False
        if self.starting.cancelled() or self.starting.exception() is not None:
            return True
        return not self.starting.result().alive


class Pool:
    """Keeps up to ``size`` jails of a sandbox warm; leases of the same source share a jail.

    When every jail is leased and the pool is full, a lease waits until one comes back. An async
    context manager; leaving it ends every jail.
    """

    def __init__(self, sandbox: Sandbox, size: int | None = None) -> None:
        self._sandbox = sandbox
        self._size = sandbox.config.pool_jails if size is None else size
        if self._size < 1:
            raise ValueError("a pool keeps at least one jail")
        self._slots: OrderedDict[bytes, _Slot] = OrderedDict()
        self._freed = asyncio.Condition()
        self._endings: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __len__(self) -> int:
        return len(self._slots)

    @asynccontextmanager
    async def lease(self, source: str) -> AsyncIterator[Jail]:
        """Give a live jail with ``source`` loaded; raises what ``Sandbox.open`` raises.

        A jail that ended since its last lease is replaced.
        """
        slot = await self._take(source)
        try:
            yield await asyncio.shield(slot.starting)
        finally:
            slot.users -= 1
            async with self._freed:
                self._freed.notify_all()

    async def close(self) -> None:
        """End every jail."""
        slots = list(self._slots.values())
        self._slots.clear()
        await asyncio.gather(*(self._end(slot) for slot in slots), *self._endings)

    async def _take(self, source: str) -> _Slot:
        key = hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()
        async with self._freed:
            while True:
                slot = self._slots.get(key)
                if slot is not None and not slot.dead():
                    break
                if slot is not None:
                    del self._slots[key]
                    await self._end(slot)
                    continue
                idle = next((k for k, s in self._slots.items() if s.users == 0), None)
                if len(self._slots) < self._size:
                    slot = _Slot(asyncio.create_task(self._sandbox.open(source)))
                    self._slots[key] = slot
                    break
                if idle is None:
                    await self._freed.wait()
                else:
                    await self._end(self._slots.pop(idle))
            self._slots.move_to_end(key)
            slot.users += 1
            return slot

    async def _end(self, slot: _Slot) -> None:
        """End a slot's jail, to the end even if whoever waits for it is cancelled."""
        ending = asyncio.create_task(self._end_jail(slot))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)
        await asyncio.shield(ending)

    async def _end_jail(self, slot: _Slot) -> None:
        try:
            jail = await asyncio.shield(slot.starting)
        except Exception:  # its lease has been told
            return
        await jail.close()
