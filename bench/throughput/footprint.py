"""How much memory a jail and an open episode take, as proportional set size."""

import asyncio
from pathlib import Path

from bench.throughput import peers
from bench.throughput.row import Row
from sandbox import Jail, Sandbox

JAILS = 4
EPISODES = 16


async def measure(sandbox: Sandbox, source: str) -> list[Row]:
    """Return MiB per idle jail and per open episode, beside a plain Python process's.

    Proportional set size: a page shared by n processes counts 1/n for each. One step has been
    played in every episode. Nothing is returned where the kernel does not tell us.
    """
    jails = [await sandbox.open(source) for _ in range(JAILS)]
    idle = [await _settled(jail) for jail in jails]
    episodes = [await jails[0].episode(seed) for seed in range(EPISODES)]
    for episode in episodes:
        await episode.step("on")
    opened = mib(jails[0].pid) - idle[0]
    process, ask = await peers.process()
    await ask(0)
    await ask("on")
    plain = mib(process.pid)
    await peers.end(process)
    await asyncio.gather(*(jail.close() for jail in jails))
    if not plain or not all(idle):
        return []
    return [
        Row(
            part="sandbox",
            measure=measured,
            value=value,
            unit="MiB",
            n=n,
            peer="a plain Python process",
            peer_value=plain,
        )
        for measured, value, n in (
            ("memory of an idle jail", sum(idle) / JAILS, JAILS),
            (f"memory of one of {EPISODES} open episodes", opened / EPISODES, EPISODES),
        )
    ]


async def _settled(jail: Jail) -> float:
    while jail.open_episodes:  # noqa: ASYNC110 - it watches another process
        await asyncio.sleep(0.01)
    return mib(jail.pid)


def mib(pid: int) -> float:
    """Return the proportional set size of a process and all below it; 0 where it is not told."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        below = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return 0.0
    own = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return own / 1024 + sum(mib(child) for child in below)
