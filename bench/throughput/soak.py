"""Many episodes of many environments, some of them hostile: what the host has left of them."""

import asyncio
import contextlib
import ctypes
import gc
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.throughput import footprint
from bench.throughput.row import Row
from sandbox import EnvironmentFault, Pool, Sandbox, SandboxConfig, cgroups

EPISODES = 10_000
ENVIRONMENTS = 200
ROUNDS = 10
TOGETHER = 32
HOSTILE = 20
"""Every twentieth environment is hostile."""
_SETTLE_S = 0.3

_ENVIRONMENT = '''
class SoakEnv:
    """Number {number}."""

    def reset(self, seed=None):
        self.kept = ["x" * 100 for _ in range(1000)]
        return str(seed), {{}}

    def step(self, action):
        {attack}
        return action, 0.0, False, False, {{}}
'''
_ATTACKS = (
    "while True: pass",
    "import os; os._exit(1)",
    "import ctypes; ctypes.string_at(8)",
    "return bytearray(1 << 40)",
    "import os; os.write(3, b'[' * 9000)",
    "import os, time; os.close(3); time.sleep(3600)",
    "return 'x' * 10_000_000, 0.0, False, False, {}",
    "print('flood' * 1_000_000)",
    "raise ValueError('no')",
    "import os; [os.pipe() for _ in range(1000)]",
)


@dataclass(frozen=True)
class State:
    """What of a host could grow, at the end of a round, when the pool is full and idle.

    ``host_memory`` is this process's own, anonymous and after the allocator has given back what it
    can; ``jail_memory`` is the median over the jails' proportional set sizes. Both in MiB.
    """

    host_memory: float
    jail_memory: float
    descriptors: float
    threads: float
    processes: float
    zombies: float
    control_groups: float


UNITS = {"host_memory": "MiB", "jail_memory": "MiB"}


async def measure(
    config: SandboxConfig,
    episodes: int = EPISODES,
    environments: int = ENVIRONMENTS,
    rounds: int = ROUNDS,
) -> list[Row]:
    """Play ``episodes`` in ``rounds`` (3 or more) over all environments; compare the last rounds
    with the first ones.

    The very first only fills caches and the allocator's pools and does not count. Returns one row
    per thing that must not grow, the mean over the last third beside that over the first, and one
    for the speed.
    """
    sources = [_source(number) for number in range(environments)]
    each = max(1, episodes // (rounds * environments))
    played = rounds * environments * each
    began = time.perf_counter()
    # A jail that is ready is one more process at some moments and not at others.
    async with (
        Sandbox(replace(config, step_s=0.5, memory_mb=64, spare_jails=0)) as sandbox,
        Pool(sandbox) as pool,
    ):
        states = [await _round(pool, sources, each) for _ in range(rounds)]
    seconds = time.perf_counter() - began
    hostile = sum(_attack(number) != "pass" for number in range(environments))
    name = f"{played} episodes, {environments} environments, {hostile} hostile"
    speed = Row(part="soak", measure=name, value=played / seconds, unit="episodes/s", n=played)
    return [*compare(states, played), speed]


def compare(states: list[State], played: int) -> list[Row]:
    """Return a row for each thing that must not grow: the mean of the last third of the rounds
    beside that of the first, the very first round left out."""
    settled = states[1:]
    third = max(1, len(settled) // 3)
    rows = []
    for what in State.__dataclass_fields__:
        first, last = (
            statistics.fmean(getattr(state, what) for state in part)
            for part in (settled[:third], settled[-third:])
        )
        rows.append(
            Row(
                part="soak",
                measure=what.replace("_", " "),
                value=last,
                unit=UNITS.get(what, ""),
                n=played,
                peer=f"first {third} of {len(settled)} rounds",
                peer_value=first,
            )
        )
    return rows


def leaks(rows: Sequence[Row]) -> list[str]:
    """Return what grew: anything counted at all, memory by more than 3 % and 3 MiB."""
    found = []
    for row in rows:
        if row.part == "soak" and row.peer_value is not None:
            room = max(3.0, 0.03 * row.peer_value) if row.unit == "MiB" else 0.0
            if row.value > row.peer_value + room:
                found.append(f"{row.measure} grew from {row.peer_value:.1f} to {row.value:.1f}")
    return found


async def _round(pool: Pool, sources: list[str], each: int) -> State:
    gate = asyncio.Semaphore(TOGETHER)

    async def play(source: str) -> None:
        async with gate, pool.lease(source) as jail:
            for seed in range(each):
                with contextlib.suppress(EnvironmentFault):
                    async with await jail.episode(seed) as episode:
                        for _ in range(3):
                            await episode.step("on")

    await asyncio.gather(*(play(source) for source in sources))
    await asyncio.sleep(_SETTLE_S)  # the last episodes are being reaped
    return await asyncio.to_thread(_state)


def _source(number: int) -> str:
    return _ENVIRONMENT.format(number=number, attack=_attack(number))


def _attack(number: int) -> str:
    hostile = number % HOSTILE == HOSTILE - 1
    return _ATTACKS[number // HOSTILE % len(_ATTACKS)] if hostile else "pass"


def _state() -> State:
    own = Path("/proc/self")
    gc.collect()
    with contextlib.suppress(AttributeError):  # another C library keeps no such pools
        ctypes.CDLL(None).malloc_trim(0)
    status = dict(line.split(":", 1) for line in (own / "status").read_text().splitlines())
    children = [
        int(pid)
        for task in (own / "task").iterdir()
        for pid in (task / "children").read_text().split()
    ]
    return State(
        host_memory=int(status["RssAnon"].split()[0]) / 1024,
        jail_memory=statistics.median(map(footprint.mib, children)) if children else 0.0,
        descriptors=len(list((own / "fd").iterdir())),
        threads=int(status["Threads"]),
        processes=len(children),
        zombies=sum(_is_zombie(pid) for pid in children),
        control_groups=_control_groups(),
    )


def _is_zombie(pid: int) -> bool:
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            == "Z"
        )
    except OSError:
        return False


def _control_groups() -> int:
    """Count the jails' control groups that are ours: of our jails, or left over without a process.

    Another process on this machine may run jails of its own in the same parent; one that is just
    ending is without a process too, but not for long.
    """
    first = _our_groups()
    time.sleep(_SETTLE_S)
    return len(first & _our_groups())


def _our_groups() -> set[Path]:
    groups = [group for parent in cgroups.find().parents for group in parent.glob("NSJAIL.*")]
    guests = {group: group.suffix[1:] for group in groups if group.suffix[1:].isdecimal()}
    ours = (0, os.getpid())
    return {group for group, guest in guests.items() if _parent(_parent(int(guest))) in ours}


def _parent(process: int) -> int:
    """Return the parent's process id, 0 where there is no such process."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])
