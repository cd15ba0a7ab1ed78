"""What sandbox work there is, and the workers that do it in this process."""

import asyncio
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from envgen.certificate import Certificate, Terms, certify
from sandbox import Playable, Pool, Sandbox


class Workers(Protocol):
    """Whoever runs environments for a round."""

    async def certify(
        self,
        source: str,
        hint: str,
        terms: Terms,
        required: Collection[str] = (),
    ) -> Certificate:
        """Certify a source and its hint when there is room for one more; see ``certificate.certify``.

        Raises ``SandboxFault`` where trying again may help, any other ``OurFault`` where it will not.
        """

    def lease(self, source: str) -> AbstractAsyncContextManager[Playable]:
        """Give a jail with ``source`` loaded for the block.

        Raises ``EnvironmentFault`` for a source that does not load, and as ``certify`` does.
        """


class LocalWorkers:
    """Does everything in jails of this machine, ``parallel`` certificates at once."""

    def __init__(self, sandbox: Sandbox, pool: Pool, parallel: int) -> None:
        self._sandbox, self._pool = sandbox, pool
        self._certifying = asyncio.Semaphore(parallel)

    async def certify(
        self,
        source: str,
        hint: str,
        terms: Terms,
        required: Collection[str] = (),
    ) -> Certificate:
        """See :class:`Workers`."""
        async with self._certifying:
            return await certify(
                source,
                hint,
                self._sandbox,
                terms=terms,
                required=required,
            )

    def lease(self, source: str) -> AbstractAsyncContextManager[Playable]:
        """See :class:`Workers`."""
        return self._pool.lease(source)
