"""One worker of a Ray cluster: a sandbox with its jails, driven by the producer call by call.

It decides nothing and keeps nothing: no seeds, no policy, no store. An actor in a process of its own;
nothing of Ray is needed here.
"""

import asyncio
from collections.abc import Collection

from envgen.certificate import Terms, certify, code_digest
from envgen.workers import wire
from sandbox import EnvironmentFault, Episode, Jail, Pool, Sandbox, SandboxConfig, SandboxFault
from sandbox.doctor import self_check, works


class Station:
    """Answers in frames (see ``wire``), faults included; ``begin`` comes first.

    The caller numbers leases and plays, so that it can end what it no longer waits for.
    """

    def __init__(self, config: SandboxConfig) -> None:
        self._config = config
        self._sandbox = Sandbox(config)
        self._pool = Pool(self._sandbox)
        self._leases: dict[int, _Lease] = {}

    async def begin(self, code: str) -> str:
        """Try the sandbox; return why this host will not do, "" when it will.

        ``code`` is the digest of the caller's code: another one may come to other verdicts.
        """
        if code_digest() != code:
            return "another version of Spadework is installed there; install the same one"
        layers = await asyncio.to_thread(self_check, self._config)
        if not works(layers):
            bad = next(layer for layer in layers if layer.required and not layer.ok)
            return f"{bad.name}: {bad.detail}; {bad.how_to_fix}"
        return ""

    async def certify(
        self,
        source: str,
        hint: str,
        terms: Terms,
        required: Collection[str],
    ) -> bytes:
        """Certify a source; the frame of a certificate."""
        try:
            return wire.of_certificate(
                await certify(
                    source,
                    hint,
                    self._sandbox,
                    terms=terms,
                    required=required,
                )
            )
        except SandboxFault as fault:
            return wire.of_fault(fault)

    async def lease(self, number: int, source: str) -> bytes:
        """Load a source in a warm jail until ``release``; the frame of what it says of itself."""
        lease = self._leases[number] = _Lease(self._pool, source)
        return await lease.answer

    async def release(self, number: int) -> None:
        """Give a lease back, whatever it is doing, and end its plays."""
        lease = self._leases.pop(number, None)
        if lease is not None:
            await lease.end()

    async def reset(self, number: int, play: int, seed: int) -> bytes:
        """Begin a play; the frame of its first observation."""
        try:
            lease = self._lease(number)
            assert lease.jail is not None
            lease.plays[play] = episode = await lease.jail.episode(seed)
            return wire.of_first(episode.observation)
        except (EnvironmentFault, SandboxFault) as fault:
            return wire.of_fault(fault)

    async def step(self, number: int, play: int, action: str) -> bytes:
        """Play one action; the frame of what it led to."""
        try:
            return wire.of_step(await self._lease(number).plays[play].step(action))
        except (EnvironmentFault, SandboxFault) as fault:
            return wire.of_fault(fault)

    async def end(self, number: int, play: int) -> None:
        """End a play."""
        lease = self._leases.get(number)
        episode = lease.plays.pop(play, None) if lease else None
        if episode is not None:
            await episode.close()

    def _lease(self, number: int) -> "_Lease":
        if number not in self._leases:
            raise SandboxFault("the lease was given back")
        return self._leases[number]


class _Lease:
    """A jail on loan to the caller, from the call that asks for it to the one that gives it back."""

    def __init__(self, pool: Pool, source: str) -> None:
        self.jail: Jail | None = None
        self.plays: dict[int, Episode] = {}
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._holding = asyncio.create_task(self._hold(pool, source))

    async def end(self) -> None:
        """Give it back, also when it has not come yet."""
        for episode in self.plays.values():
            await episode.close()
        self._over.set()
        if not self.answer.done():
            self._holding.cancel()
        await asyncio.gather(self._holding, return_exceptions=True)

    async def _hold(self, pool: Pool, source: str) -> None:
        try:
            async with pool.lease(source) as jail:
                self.jail = jail
                self._tell(wire.of_info(jail.info))
                await self._over.wait()
        except (EnvironmentFault, SandboxFault) as fault:
            self._tell(wire.of_fault(fault))
        except BaseException as error:
            if not self.answer.done():
                self.answer.set_exception(RuntimeError(f"the lease failed: {error!r}"))
            raise

    def _tell(self, frame: bytes) -> None:
        if not self.answer.done():
            self.answer.set_result(frame)
