"""The sandbox against its peers: episodes, steps, round trips, cold starts, memory."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from bench.statistics import quantile
from bench.throughput import footprint, peers
from bench.throughput.row import Row
from sandbox import Jail, Sandbox, SandboxConfig

STEPS = 3
EPISODES = 96
TOGETHER = 16
OPEN = 64
WAVE = 50
WAVES = 5
TRIPS = 10_000
BLOCK = 200
OPENINGS = 1000
PEER_OPENINGS = 100
COLD = 40
# Between two episodes a policy thinks; the jail has a process ready by then.
_PAUSE_S = 0.005
SOURCE = peers.SOURCE.read_text(encoding="utf-8")


async def measure(config: SandboxConfig) -> list[Row]:
    """Return the sandbox's rows; ours and the peer's repetitions take turns."""
    async with Sandbox(config) as sandbox, await sandbox.open(SOURCE) as jail:

        async def jailed(seed: int) -> None:
            async with await jail.episode(seed) as episode:
                for _ in range(STEPS):
                    await episode.step("on")

        async def plain(seed: int) -> None:
            await peers.episode(seed, STEPS)

        rows = [
            _episodes("one at a time", *await _paired(jailed, plain, 1)),
            _episodes(f"{TOGETHER} at once", *await _paired(jailed, plain, TOGETHER)),
            await _steps(jail),
            *_trips(*await _timed_trips(jail)),
            *await _openings(jail),
            *await _cold(config),
        ]
        return rows + await footprint.measure(sandbox, SOURCE)


async def _paired(
    ours: Callable[[int], Awaitable[None]], theirs: Callable[[int], Awaitable[None]], together: int
) -> tuple[float, float]:
    """Return seconds for ``EPISODES`` episodes of each kind, in alternating waves."""
    spent = [0.0, 0.0]
    await ours(0)
    await theirs(0)
    for first in range(0, EPISODES, together):
        for place, play in enumerate((ours, theirs)):
            started = time.perf_counter()
            await asyncio.gather(*(play(first + index) for index in range(together)))
            spent[place] += time.perf_counter() - started
    return spent[0], spent[1]


def _episodes(how: str, ours: float, theirs: float) -> Row:
    return _row(
        f"episodes of {STEPS} steps, {how}",
        *(EPISODES / ours, "episodes/s", EPISODES),
        *("a Python process per episode", EPISODES / theirs),
    )


async def _steps(jail: Jail) -> Row:
    """Steps per second with ``OPEN`` open episodes, each asking its next step at once."""
    opened = [await jail.episode(seed) for seed in range(OPEN)]

    async def play(place: int) -> None:
        for _ in range(WAVE):
            await opened[place].step("on")

    ours, theirs = [], []
    for _ in range(WAVES):
        began = time.perf_counter()
        await asyncio.gather(*(play(place) for place in range(OPEN)))
        ours.append(OPEN * WAVE / (time.perf_counter() - began))
        theirs.append(OPEN * WAVE / await peers.threads(OPEN, WAVE))
    for episode in opened:
        await episode.close()
    return _row(
        f"steps, {OPEN} open episodes",
        *(quantile(ours, 0.5), "steps/s", OPEN * WAVE * WAVES),
        *("threads of our own process", quantile(theirs, 0.5)),
    )


async def _timed_trips(jail: Jail) -> tuple[list[float], list[float]]:
    """Return the seconds of each round trip, ours and the peer's, in alternating blocks."""
    process, ask = await peers.process()
    await ask(0)
    ours: list[float] = []
    theirs: list[float] = []
    async with await jail.episode(0) as episode:
        while len(ours) < TRIPS:
            for times, step in ((ours, episode.step), (theirs, ask)):
                for _ in range(BLOCK):
                    started = time.perf_counter()
                    await step("on")
                    times.append(time.perf_counter() - started)
    await peers.end(process)
    return ours, theirs


def _trips(ours: list[float], theirs: list[float]) -> list[Row]:
    return [
        _row(
            f"round trip of a step, {name}",
            *(1e6 * quantile(ours, share), "us", len(ours)),
            *("JSON lines on pipes, no jail", 1e6 * quantile(theirs, share)),
        )
        for name, share in (("median", 0.5), ("99 %", 0.99))
    ]


async def _openings(jail: Jail) -> list[Row]:
    """The time to a first observation where the environment is loaded already."""
    ours: list[float] = []
    theirs: list[float] = []
    crowd: list[float] = []
    for seed in range(PEER_OPENINGS):
        for _ in range(OPENINGS // PEER_OPENINGS):
            await asyncio.sleep(_PAUSE_S)
            started = time.perf_counter()
            async with await jail.episode(seed) as episode:
                ours.append(time.perf_counter() - started)
                await episode.step("on")
        started = time.perf_counter()
        process, ask = await peers.process()
        await ask(seed)
        theirs.append(time.perf_counter() - started)
        await peers.end(process)
    for _ in range(OPENINGS // TOGETHER):
        started = time.perf_counter()
        opened = await asyncio.gather(*(jail.episode(seed) for seed in range(TOGETHER)))
        crowd.append((time.perf_counter() - started) / TOGETHER)
        for episode in opened:
            await episode.close()
    return [
        _row(
            f"opening an episode, {name}",
            *(1e3 * quantile(times, share), "ms", len(times)),
            *("a Python process per episode", 1e3 * quantile(theirs, share)),
        )
        for name, times, share in (
            ("median", ours, 0.5),
            ("99 %", ours, 0.99),
            (f"each of {TOGETHER} at once, median", crowd, 0.5),
        )
    ]


async def _cold(config: SandboxConfig) -> list[Row]:
    """From a source to its first observation: in a jail that was ready, and in one that was not.

    With what neither can undercut: nsjail around a program that does nothing.
    """
    rows = []
    for how, spare in (("a jail is ready", max(1, config.spare_jails)), ("no jail is ready", 0)):
        ours: list[float] = []
        bare: list[float] = []
        async with Sandbox(replace(config, spare_jails=spare)) as sandbox:
            for _ in range(COLD + 2):
                bare.append(await peers.bare_start())
                started = time.perf_counter()
                async with await sandbox.open(SOURCE) as jail, await jail.episode(0):
                    ours.append(time.perf_counter() - started)
        # The first two openings are what a sandbox takes as the sign to keep a jail ready.
        rows.append(
            _row(
                f"source to first observation, {how}",
                *(1e3 * quantile(ours[2:], 0.5), "ms", COLD),
                *("bare python -I -S", 1e3 * quantile(bare[2:], 0.5)),
            )
        )
    if config.isolation == "nsjail":
        floor = [await peers.bare_jail(config) for _ in range(COLD)]
        rows.append(
            _row(
                "nsjail around true: the floor of a jail's start",
                *(1e3 * quantile(floor, 0.5), "ms", COLD),
                *("bare python -I -S", 1e3 * quantile(bare, 0.5)),
            )
        )
    return rows


def _row(measure: str, value: float, unit: str, n: int, peer: str, peer_value: float) -> Row:
    return Row(
        part="sandbox",
        measure=measure,
        value=value,
        unit=unit,
        n=n,
        peer=peer,
        peer_value=peer_value,
    )
