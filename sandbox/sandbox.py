"""The front of the package: opens sources in jails and sees to it that every jail ends."""

import asyncio
import random
from types import TracebackType
from typing import Final, Self

from sandbox.config import SandboxConfig
from sandbox.jail import Jail
from sandbox.launch import Launcher
from sandbox.source import check_source
from sandbox.spares import Spares

_JITTER_S: Final = 0.005
_HASH_SEEDS: Final = 2**32


class Sandbox:
    """Runs untrusted environments. An async context manager; leaving it ends every jail."""

    def __init__(self, config: SandboxConfig = SandboxConfig()) -> None:  # noqa: B008 - frozen
        self.config = config
        self._launcher: Launcher | None = None
        self._jails: set[Jail] = set()
        self._jitter = random.Random()  # when a jail starts changes no result
        self._starts = asyncio.Semaphore(config.parallel_starts)
        self._spares = Spares(config.spare_jails, self._start)
        self._preparing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self._prepare()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def open(self, source: str | bytes, *, hash_seed: int = 0) -> Jail:
        """Start a jail with ``source`` loaded in it.

        ``hash_seed`` (0 to 2**32 - 1) fixes the order of sets of strings inside. Raises
        ``EnvironmentFault`` (stage load) for a source that will not do, ``SandboxFault`` when the
        sandbox itself does not work here.
        """
        data = check_source(source, self.config.max_source_bytes)
        if not 0 <= hash_seed < _HASH_SEEDS:
            raise ValueError(f"hash_seed = {hash_seed} must lie between 0 and 2**32 - 1")
        jail = await self._spares.take(hash_seed)
        await jail.load(data)
        self._jails = {known for known in self._jails if not known.ended}
        self._jails.add(jail)
        return jail

    async def close(self) -> None:
        """End every jail that is still open."""
        jails, self._jails = self._jails, set()
        await asyncio.gather(self._spares.close(), *(jail.close() for jail in jails))
        if self._launcher is not None:
            self._launcher.discard()
            self._launcher = None

    async def _start(self, hash_seed: int) -> Jail:
        launcher = await self._prepare()
        if self._starts.locked():
            # Many starts at once meet the same locks in the kernel; spreading them costs nothing.
            await asyncio.sleep(self._jitter.uniform(0, _JITTER_S))
        async with self._starts:
            return await Jail.start(launcher, hash_seed)

    async def _prepare(self) -> Launcher:
        async with self._preparing:
            if self._launcher is None:
                self._launcher = await asyncio.to_thread(Launcher.prepare, self.config)
            return self._launcher
