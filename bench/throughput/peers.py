"""What the sandbox is measured against: bare Python processes, and threads in our own process."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.throughput.tally import TallyEnv
from sandbox import SandboxConfig, SandboxFault, cgroups, interpreter, nsjail
from sandbox.interpreter import Interpreter

Ask = Callable[[object], Awaitable[object]]

PLAIN = Path(__file__).with_name("plain_episode.py")
SOURCE = Path(__file__).with_name("tally.py")
STEP_LIMIT_S = 3.0
TRUE = Path("/bin/true").resolve()


async def process(source: Path = SOURCE) -> tuple[asyncio.subprocess.Process, Ask]:
    """Start a plain Python process for one episode: JSON lines on pipes, no jail."""
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", str(PLAIN), str(source)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )

    async def ask(value: object) -> object:
        assert started.stdin is not None and started.stdout is not None
        started.stdin.write(json.dumps(value).encode() + b"\n")
        return json.loads(await started.stdout.readline())

    return started, ask


async def end(started: asyncio.subprocess.Process) -> None:
    """Close a plain process's input and wait for its end."""
    assert started.stdin is not None
    started.stdin.close()
    await started.wait()


async def episode(seed: int, steps: int) -> None:
    """Play one episode in a plain process of its own."""
    started, ask = await process()
    await ask(seed)
    for _ in range(steps):
        await ask("on")
    await end(started)


async def bare_start() -> float:
    """Return the seconds of a bare ``python -I -S`` from start to end."""
    began = time.perf_counter()
    started = await asyncio.create_subprocess_exec(sys.executable, "-I", "-S", "-c", "pass")
    await started.wait()
    return time.perf_counter() - began


async def bare_jail(config: SandboxConfig) -> float:
    """Return the seconds of nsjail around ``true``, with a jail's namespaces, mounts and filter.

    What no jail can be cheaper than. Raises ``SandboxFault``.
    """
    python = interpreter.choose(config.python)
    nobody = Interpreter(TRUE, python.version, (), python.libraries)
    command = nsjail.argv(nsjail.find(), nobody, Path("/bin"), config, cgroups.find(), 0, 0)
    began = time.perf_counter()
    started = await asyncio.create_subprocess_exec(
        *command[: command.index("--") + 1], str(TRUE), stdin=asyncio.subprocess.DEVNULL
    )
    if await started.wait():
        raise SandboxFault("nsjail does not run true; `spadework doctor` says more")
    return time.perf_counter() - began


async def threads(episodes: int, steps: int) -> float:
    """Return the seconds of ``steps`` steps in each of ``episodes`` environments at once.

    As the reference project steps them: in this process, each step on asyncio's thread pool under
    ``wait_for``. No isolation: a step that hangs keeps its thread for ever.
    """
    loop = asyncio.get_running_loop()
    opened = [TallyEnv() for _ in range(episodes)]
    for seed, environment in enumerate(opened):
        environment.reset(seed)

    async def play(environment: TallyEnv) -> None:
        for _ in range(steps):
            work = loop.run_in_executor(None, environment.step, "on")
            await asyncio.wait_for(work, STEP_LIMIT_S)

    began = time.perf_counter()
    await asyncio.gather(*(play(environment) for environment in opened))
    return time.perf_counter() - began
