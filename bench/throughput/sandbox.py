"""The sandbox against plain Python processes: episodes, steps, round trips, cold starts."""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.statistics import quantile
from bench.throughput.row import Row
from sandbox import Jail, Sandbox, SandboxConfig

STEPS = 20
EPISODES = 48
TOGETHER = 16
TRIPS = 2000
BLOCK = 200
COLD = 15
PLAIN = Path(__file__).with_name("plain_episode.py")
SOURCE = '''\
import random


class TallyEnv:
    """Count up to the number shown."""

    def __init__(self, max_turns=1000000, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.goal = random.Random(seed).randint(10**8, 10**9)
        self.count = 0
        return f"Count to {self.goal}.", {}

    def step(self, action):
        self.count += 1
        return f"You are at {self.count}.", 0.0, False, False, {}
'''
"""Cheap steps that never end the episode: what is measured is the way there and back."""


async def measure(config: SandboxConfig) -> list[Row]:
    """Return the sandbox's rows; ours and the peer's repetitions take turns."""
    with tempfile.TemporaryDirectory(prefix="spadework-bench-") as folder:
        source = Path(folder) / "tally.py"
        source.write_text(SOURCE, encoding="utf-8")
        async with Sandbox(config) as sandbox, await sandbox.open(SOURCE) as jail:

            async def jailed(seed: int) -> None:
                await _jailed_episode(jail, seed)

            async def plain(seed: int) -> None:
                await _plain_episode(source, seed)

            rows = _episode_rows("one at a time", *await _paired(jailed, plain, 1))
            rows += _episode_rows(f"{TOGETHER} at once", *await _paired(jailed, plain, TOGETHER))
            rows += _trip_rows(*await _trips(jail, source))
            rows.append(await _cold_row(sandbox))
            return rows


async def _paired(
    ours: Callable[[int], Awaitable[None]], peers: Callable[[int], Awaitable[None]], together: int
) -> tuple[float, float]:
    """Return seconds for ``EPISODES`` episodes of each kind, in alternating waves."""
    spent = [0.0, 0.0]
    await ours(0)
    await peers(0)
    for first in range(0, EPISODES, together):
        for place, play in enumerate((ours, peers)):
            started = time.perf_counter()
            await asyncio.gather(*(play(first + index) for index in range(together)))
            spent[place] += time.perf_counter() - started
    return spent[0], spent[1]


async def _jailed_episode(jail: Jail, seed: int) -> None:
    async with await jail.episode(seed) as episode:
        for _ in range(STEPS):
            await episode.step("on")


async def _plain_episode(source: Path, seed: int) -> None:
    process, ask = await _plain(source)
    await ask(seed)
    for _ in range(STEPS):
        await ask("on")
    await _end(process)


async def _trips(jail: Jail, source: Path) -> tuple[list[float], list[float]]:
    """Return the seconds of each round trip, ours and the peer's, in alternating blocks."""
    process, ask = await _plain(source)
    await ask(0)
    ours: list[float] = []
    peers: list[float] = []
    async with await jail.episode(0) as episode:
        while len(ours) < TRIPS:
            for times, step in ((ours, episode.step), (peers, ask)):
                for _ in range(BLOCK):
                    started = time.perf_counter()
                    await step("on")
                    times.append(time.perf_counter() - started)
    await _end(process)
    return ours, peers


async def _cold_row(sandbox: Sandbox) -> Row:
    ours, bare = [], []
    for _ in range(COLD):
        started = time.perf_counter()
        jail = await sandbox.open(SOURCE)
        ours.append(time.perf_counter() - started)
        await jail.close()
        started = time.perf_counter()
        process = await asyncio.create_subprocess_exec(sys.executable, "-I", "-S", "-c", "pass")
        await process.wait()
        bare.append(time.perf_counter() - started)
    return Row(
        part="sandbox",
        measure="cold start, environment loaded",
        value=1e3 * quantile(ours, 0.5),
        unit="ms",
        n=COLD,
        peer="bare python -I -S",
        peer_value=1e3 * quantile(bare, 0.5),
    )


async def _plain(
    source: Path,
) -> tuple[asyncio.subprocess.Process, Callable[[object], Awaitable[object]]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", str(PLAIN), str(source)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )

    async def ask(value: object) -> object:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(value).encode() + b"\n")
        return json.loads(await process.stdout.readline())

    return process, ask


async def _end(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()


def _episode_rows(how: str, ours: float, peers: float) -> list[Row]:
    """Return episodes and steps per second, from the seconds that all episodes took."""
    return [
        Row(
            part="sandbox",
            measure=f"{name}, {how}",
            value=count / ours,
            unit=f"{name.split()[0]}/s",
            n=count,
            peer="a Python process per episode",
            peer_value=count / peers,
        )
        for name, count in (
            (f"episodes of {STEPS} steps", EPISODES),
            ("steps of these episodes", EPISODES * STEPS),
        )
    ]


def _trip_rows(ours: list[float], peers: list[float]) -> list[Row]:
    return [
        Row(
            part="sandbox",
            measure=f"round trip of a step, {name}",
            value=1e6 * quantile(ours, share),
            unit="us",
            n=len(ours),
            peer="JSON lines on pipes, no jail",
            peer_value=1e6 * quantile(peers, share),
        )
        for name, share in (("median", 0.5), ("99 %", 0.99))
    ]
