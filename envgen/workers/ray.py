"""Sandbox work on the workers of a Ray cluster; everything else stays with the producer.

    producer ── source, hint ──► station ── jail          one station (a Ray actor) for each CPU of the
             ◄── certificate ──                           cluster, on the node of that CPU
             ── seed, actions ─► station ── jail ── play
             ◄── observations ──

The policy is asked by the producer, wherever it is, and only an action travels: a round trip of about a
millisecond for each turn, which any policy's reply takes many times over. A lease goes back to the
station that had the source before, where its jail is warm.

A station that is gone (its process or its node was killed) is our fault: what it was doing raises
``SandboxFault``, is never scored, and is tried again by another one.
"""

import asyncio
import hashlib
import importlib
import itertools
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self

from envgen.certificate import Certificate, Terms, code_digest
from envgen.workers import wire
from envgen.workers.station import Station
from sandbox import JailInfo, Observation, Playable, SandboxConfig, SandboxFault, Step
from spadekit.errors import BadInput, OurFault
from spadekit.tasks import together

KNOCK_S = 5.0
BEGIN_S = 90.0
"""Longest wait for a station's first answer: a process is started there and imports Spadework."""


@dataclass(eq=False)
class _Worker:
    """A station as the producer sees it."""

    actor: Any
    node: str
    address: str
    leases: int = 0
    lost: bool = False


@dataclass(frozen=True)
class _Room:
    """Certificates that the workers can take now, one entry for each; ``None``: no worker is left."""

    free: asyncio.Queue[_Worker | None] = field(default_factory=asyncio.Queue)

    @asynccontextmanager
    async def one(self) -> AsyncIterator[_Worker]:
        while (worker := await self.free.get()) is not None and worker.lost:
            pass
        if worker is None:
            self.free.put_nowait(None)
            raise _nobody()
        try:
            yield worker
        finally:
            self.free.put_nowait(worker)


class RayWorkers:
    """The stations of a cluster. Make one with :func:`ray_workers`."""

    def __init__(
        self,
        ray: Any,
        workers: list[_Worker],
        parallel: int,
        longest_action: int,
        note: Callable[[str], None],
    ) -> None:
        self._ray, self._workers, self._note = ray, workers, note
        self.longest_action = longest_action
        self._room = _Room()
        for _ in range(parallel):
            for worker in workers:
                self._room.free.put_nowait(worker)
        self._homes: dict[bytes, _Worker] = {}
        self._numbers = itertools.count()
        self._farewells: set[asyncio.Task[None]] = set()

    async def certify(
        self,
        source: str,
        hint: str,
        terms: Terms,
        required: Collection[str] = (),
    ) -> Certificate:
        """See :class:`envgen.workers.Workers`."""
        async with self._room.one() as worker:
            arguments = (source, hint, terms, tuple(required))
            return wire.certificate(await self.ask(worker, "certify", *arguments))

    @asynccontextmanager
    async def lease(self, source: str) -> AsyncIterator[Playable]:
        """See :class:`envgen.workers.Workers`."""
        key = hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()
        worker = self._homes.get(key)
        if worker is None or worker.lost:
            alive = [one for one in self._workers if not one.lost]
            if not alive:
                raise _nobody()
            worker = self._homes[key] = min(alive, key=lambda one: one.leases)
        number = self.number()
        worker.leases += 1
        try:
            info = wire.info(await self.ask(worker, "lease", number, source))
            yield _Jail(self, worker, number, info)
        finally:
            worker.leases -= 1
            self.tell(worker, "release", number)

    async def ask(self, worker: _Worker, call: str, *arguments: Any) -> bytes:
        """Make a call of a station. Raises ``SandboxFault`` when the station is gone."""
        try:
            answer: bytes = await getattr(worker.actor, call).remote(*arguments)
        except self._ray.exceptions.RayActorError as error:
            await self._lose(worker)
            raise SandboxFault(f"the Ray worker on {worker.address} is gone") from error
        except self._ray.exceptions.RayError as error:
            raise OurFault(f"the Ray worker on {worker.address} failed: {_line(error)}") from error
        return answer

    def tell(self, worker: _Worker, call: str, *arguments: Any) -> None:
        """Make a call that nobody waits for; a station that is gone has ended it already."""
        if worker.lost:
            return

        async def farewell() -> None:
            with suppress(self._ray.exceptions.RayError):
                await getattr(worker.actor, call).remote(*arguments)

        task = asyncio.create_task(farewell())
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)

    def number(self) -> int:
        """Return a number that no lease and no play has yet."""
        return next(self._numbers)

    async def close(self) -> None:
        """End every station and with it its jails."""
        await asyncio.gather(*self._farewells)
        for worker in self._workers:
            if not worker.lost:
                _end(self._ray, worker)

    async def _lose(self, worker: _Worker) -> None:
        """Give up a station, and with it those of its node if the whole node is gone."""
        if worker.lost:
            return
        worker.lost = True
        nodes = await asyncio.to_thread(self._ray.nodes)
        alive = {node["NodeID"] for node in nodes if node["Alive"]}
        if worker.node not in alive:
            for other in self._workers:
                other.lost = other.lost or other.node == worker.node
        left = sum(not one.lost for one in self._workers)
        self._note(
            f"the Ray worker on {worker.address} is gone; its work is done again by the {left} left"
        )
        if not left:
            self._room.free.put_nowait(None)


class _Jail:
    """A source loaded by a station."""

    def __init__(self, workers: RayWorkers, worker: _Worker, number: int, info: JailInfo) -> None:
        self.info = info
        self.longest_action = workers.longest_action
        self._workers, self._worker, self._number = workers, worker, number

    async def episode(self, seed: int) -> "_Episode":
        """See :class:`sandbox.Playable`."""
        play = _Episode(self._workers, self._worker, self._number, self.info)
        try:
            await play.reset(seed)
        except BaseException:
            await play.__aexit__()
            raise
        return play


class _Episode:
    """A play that a station has open."""

    observation: Observation = ()

    def __init__(self, workers: RayWorkers, worker: _Worker, number: int, info: JailInfo) -> None:
        self._workers, self._worker = workers, worker
        self._names = (number, workers.number())
        self._setting = info.setting

    async def reset(self, seed: int) -> None:
        data = await self._workers.ask(self._worker, "reset", *self._names, seed)
        self.observation = wire.first(data, self._setting)

    async def step(self, action: str) -> Step:
        """See :class:`sandbox.Playing`."""
        data = await self._workers.ask(self._worker, "step", *self._names, action)
        return wire.step(data, self._setting)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._workers.tell(self._worker, "end", *self._names)


@asynccontextmanager
async def ray_workers(
    address: str, config: SandboxConfig, parallel: int, note: Callable[[str], None]
) -> AsyncIterator[RayWorkers]:
    """Join the cluster at ``address`` and man every CPU of it that can run jails.

    ``parallel`` certificates at once for each. A host that will not do is said in one line and left
    out. Raises ``BadInput`` without Ray or a cluster, ``SandboxFault`` when no host will do.
    """
    ray = _joined(address)
    try:
        workers = await _manned(ray, config, note)
        crew = RayWorkers(ray, workers, parallel, config.limits.longest_action, note)
        try:
            yield crew
        finally:
            await crew.close()
    finally:
        ray.shutdown()


def _joined(address: str) -> Any:
    """Return the module Ray, connected to the cluster at an address."""
    # Ray reports usage to its makers unless it is told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray = importlib.import_module("ray")
    except ImportError:
        raise BadInput(
            "--workers ray needs Ray on this machine and on the cluster: pip install -e '.[ray]'"
        ) from None
    try:
        _knock(address)
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            configure_logging=False,
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise BadInput(
            f"no Ray cluster can be joined at {address!r} ({_line(error)}): start one with `ray start "
            "--head`, or name its head with --set producer.ray_address=HOST:6379"
        ) from None
    return ray


def _knock(address: str) -> None:
    """Raise ``OSError`` where nobody listens at HOST:PORT, which Ray takes half a minute to find out."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), KNOCK_S).close()


async def _manned(ray: Any, config: SandboxConfig, note: Callable[[str], None]) -> list[_Worker]:
    """Start a station for each CPU and return those that can run jails."""
    strategy = importlib.import_module("ray.util.scheduling_strategies")
    made = [
        _Worker(
            ray.remote(Station)
            .options(
                num_cpus=1,
                max_restarts=0,
                max_concurrency=10_000,
                scheduling_strategy=strategy.NodeAffinitySchedulingStrategy(
                    node["NodeID"], soft=False
                ),
            )
            .remote(config),
            node["NodeID"],
            node["NodeManagerAddress"],
        )
        for node in sorted(ray.nodes(), key=lambda one: str(one["NodeID"]))
        if node["Alive"]
        for _ in range(int(node["Resources"].get("CPU", 0)))
    ]
    answers = await together(_begun(ray, worker) for worker in made)
    refused = {
        (worker.address, why): worker for worker, why in zip(made, answers, strict=True) if why
    }
    for host, why in refused:
        note(f"Ray worker on {host}: left out: {why}")
    manned = [worker for worker, why in zip(made, answers, strict=True) if not why]
    for worker in made:
        if worker not in manned:
            _end(ray, worker)
    if not manned:
        reasons = "; ".join(sorted({why for _, why in refused})) or "it has no free CPU"
        raise SandboxFault(f"no worker of the Ray cluster can run environments: {reasons}")
    hosts = len({worker.node for worker in manned})
    note(f"{len(manned)} Ray workers on {hosts} {'node' if hosts == 1 else 'nodes'}")
    return manned


async def _begun(ray: Any, worker: _Worker) -> str:
    """Have a station try its sandbox; return why it will not do."""
    try:
        async with asyncio.timeout(BEGIN_S):
            return str(await worker.actor.begin.remote(code_digest()))
    except TimeoutError:
        return f"it does not begin within {BEGIN_S:.0f} s; is its CPU taken?"
    except ray.exceptions.RayError as error:
        return f"it cannot begin: {_line(error)}"


def _end(ray: Any, worker: _Worker) -> None:
    with suppress(ray.exceptions.RayError):
        ray.kill(worker.actor)


def _nobody() -> OurFault:
    return OurFault(
        "no Ray worker is left; what was finished is kept, the same command goes on when there are some"
    )


def _line(error: Exception) -> str:
    """Return the last line of an error of Ray's, which shows whole tracebacks."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
