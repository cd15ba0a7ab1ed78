"""How long a certificate takes alone, and how many a second come out of a batch.

Over the hand-written seeds, games and tool environments apart; as many at once as a round has.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from bench.throughput.row import Row
from envgen import seeds
from envgen.certificate import certify
from sandbox import Sandbox, SandboxConfig

TARGET_MS = 400.0
"""Median wall time of one certificate of a typical game, alone."""
TARGET_RATE = 6.0
"""Certificates a second in a batch, on two cores."""
WARM_UP = 2
NAMES = {"game": "games", "tool_use": "tools"}


@dataclass(frozen=True)
class _Timed:
    setting: str
    accepted: bool
    seconds: float


async def measure(config: SandboxConfig, together: int) -> list[Row]:
    """Return the times of certificates alone, and the rates with ``together`` at once.

    The peer column is the target.
    """
    known = seeds.load()
    async with Sandbox(config) as sandbox:
        for seed in known[:WARM_UP]:  # the sandbox keeps jails ahead once it has opened a few
            await certify(seed.source, seed.hint, sandbox)
        alone = [await _one(seed, sandbox) for seed in known]
        rates = {
            name: await _rate([s for s in known if s.setting in settings], sandbox, together)
            for name, settings in (
                ("games", ("game",)),
                ("tools", ("tool_use",)),
                ("games and tools", ("game", "tool_use")),
            )
        }
    return [*_alone(alone), *_batches(rates, together)]


def _alone(timed: Sequence[_Timed]) -> list[Row]:
    rows = []
    for setting, name in NAMES.items():
        some = [one for one in timed if one.setting == setting]
        times = [1e3 * one.seconds for one in some]
        what = f"{name} alone ({sum(one.accepted for one in some)} of {len(some)} pass)"
        rows += [
            _row(f"{what}, median", median(times), "ms", len(some), TARGET_MS),
            _row(f"{name} alone, p99", quantiles(times, n=100)[98], "ms", len(some), None),
        ]
    return rows


def _batches(rates: dict[str, tuple[float, int]], together: int) -> list[Row]:
    return [
        _row(f"{name}, {together} at once", rate, "1/s", count, TARGET_RATE)
        for name, (rate, count) in rates.items()
    ]


async def _rate(known: Sequence[seeds.Seed], sandbox: Sandbox, together: int) -> tuple[float, int]:
    gate = asyncio.Semaphore(together)

    async def one(seed: seeds.Seed) -> None:
        async with gate:
            await _one(seed, sandbox)

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for seed in known:
            group.create_task(one(seed))
    return len(known) / (time.perf_counter() - started), len(known)


async def _one(seed: seeds.Seed, sandbox: Sandbox) -> _Timed:
    started = time.perf_counter()
    made = await certify(seed.source, seed.hint, sandbox)
    return _Timed(seed.setting, made.accepted, time.perf_counter() - started)


def _row(measure: str, value: float, unit: str, n: int, target: float | None) -> Row:
    return Row(
        part="certificate",
        measure=measure,
        value=value,
        unit=unit,
        n=n,
        peer="target",
        peer_value=target,
    )
