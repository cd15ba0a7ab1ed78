"""Many episodes of many environments, some of them hostile: what the host has left of them."""

import asyncio
import contextlib
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from bench.throughput.row import Row
from sandbox import EnvironmentFault, Pool, Sandbox, SandboxConfig, cgroups

EPISODES = 10_000
ENVIRONMENTS = 200
ROUNDS = 10
TOGETHER = 32
HOSTILE = 20
"""Every twentieth environment is hostile."""

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
    """What of a host could grow."""

    memory_mib: float
    descriptors: int
    threads: int
    processes: int
    zombies: int
    control_groups: int


async def measure(
    config: SandboxConfig,
    episodes: int = EPISODES,
    environments: int = ENVIRONMENTS,
    rounds: int = ROUNDS,
) -> list[Row]:
    """Play ``episodes`` in ``rounds`` over all environments; compare the end with the first round.

    Returns one row per thing that must not grow, and one for the speed.
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
    first, last = states[0], states[-1]
    seconds = time.perf_counter() - began
    hostile = sum(_attack(number) != "pass" for number in range(environments))
    name = f"{played} episodes, {environments} environments, {hostile} hostile"
    grown = [
        Row(
            part="soak",
            measure=f"{what.replace('_', ' ')} after {name}",
            value=float(getattr(last, what)),
            unit="MiB" if what == "memory_mib" else "",
            n=played,
            peer="after the first round",
            peer_value=float(getattr(first, what)),
        )
        for what in State.__dataclass_fields__
    ]
    speed = Row(part="soak", measure=name, value=played / seconds, unit="episodes/s", n=played)
    return [*grown, speed]


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
    return await asyncio.to_thread(_state)


def _source(number: int) -> str:
    return _ENVIRONMENT.format(number=number, attack=_attack(number))


def _attack(number: int) -> str:
    hostile = number % HOSTILE == HOSTILE - 1
    return _ATTACKS[number // HOSTILE % len(_ATTACKS)] if hostile else "pass"


def _state() -> State:
    own = Path("/proc/self")
    status = dict(line.split(":", 1) for line in (own / "status").read_text().splitlines())
    children = [
        pid for task in (own / "task").iterdir() for pid in (task / "children").read_text().split()
    ]
    return State(
        memory_mib=int(status["VmRSS"].split()[0]) / 1024,
        descriptors=len(list((own / "fd").iterdir())),
        threads=int(status["Threads"]),
        processes=len(children),
        zombies=sum(_is_zombie(pid) for pid in children),
        control_groups=_control_groups(),
    )


def _is_zombie(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def _control_groups() -> int:
    """Count the jails' control groups that are ours: of our jails, or left over without a process.

    Another process on this machine may run jails of its own in the same parent.
    """
    groups = [group for parent in cgroups.find().parents for group in parent.glob("NSJAIL.*")]
    guests = [int(group.suffix[1:]) for group in groups if group.suffix[1:].isdecimal()]
    return sum(_parent(_parent(guest)) in (0, os.getpid()) for guest in guests)


def _parent(process: int) -> int:
    """Return the parent's process id, 0 where there is no such process."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])
