"""Run the arms: each (arm, seed) is a home of its own, worked on by the ordinary commands.

The commands are the ones that users give (`loop`, `generate`, `train`, `report`), each in a process of
its own. So an arm can do nothing that the product cannot, a killed comparison goes on where each of
them was, and on more cores several arms run at once.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.ablation.arms import Arm
from bench.config import AblationConfig
from bench.heldout.results import path_of
from memory import MemoryConfig, Store
from solver.versions import Versions
from spadekit.cli import Session
from spadekit.errors import BadInput, OurFault
from spadekit.tasks import together

RUN = "main"
LOOK_S = 1.0


@dataclass(frozen=True)
class Work:
    """One arm and seed, and where it lives."""

    arm: Arm
    seed: int
    home: Path

    @property
    def name(self) -> str:
        """The name people see, and that of the folder."""
        return f"{self.arm.name}-{self.seed}"

    @property
    def version(self) -> int:
        """The newest policy version; 0 before anything was trained."""
        return max(Versions(self.home / "policy").all(), default=0)

    @property
    def overrides(self) -> tuple[str, ...]:
        """The settings that the seed gives."""
        return f"producer.seed={self.seed}", f"train.seed={self.seed}"


def commands(
    work: Work, config: AblationConfig, given: Sequence[str], there: int
) -> list[list[str]]:
    """Return what is left to do, as arguments of ``spadework``, for an arm that has ``there`` shards.

    Both kinds of arm end with policy version ``config.rounds``: as many training steps, of as many
    plays each. A pool of ``config.pool`` rounds is made first by the starting policy.
    """
    common = [*given, *(word for path in work.arm.paths for word in ("--config", path))]
    common += [word for one in work.overrides for word in ("--set", one)]
    common += ["--home", str(work.home)]
    left = config.rounds - work.version
    todo = []
    if work.arm.pool:
        if there < config.pool:
            todo.append(["generate", "--rounds", str(config.pool), *common])
        if left > 0:
            todo.append(["train", "--steps", str(left), *common])
    elif left > 0:
        todo.append(["loop", "--rounds", str(config.rounds), *common])
    todo.append(["report", RUN, "--heldout-every", str(config.every), *common])
    return todo


def judgement(
    work: Work, config: AblationConfig, given: Sequence[str], run: str, path: Path
) -> list[list[str]]:
    """Return the commands that judge an arm's first and last version on the held-out set ``path``."""
    common = [*given, "--set", f"heldout.path={json.dumps(str(path))}", "--home", str(work.home)]
    return [
        ["bench", "heldout", "--run", run, "--version", str(version), *common]
        for version in (0, config.rounds)
    ]


async def carry_out(
    session: Session,
    works: Sequence[Work],
    config: AblationConfig,
    run: str,
    todo: Callable[[Work], list[list[str]]],
) -> None:
    """Give every arm and seed the commands that are left, ``config.jobs`` arms at a time.

    ``run``: the run that they judge. Raises ``BadInput`` or ``OurFault`` with the last line that the
    failing command said.
    """
    free = asyncio.Semaphore(config.jobs)
    with session.report.progress() as progress:
        bars = {
            work.name: progress.add_task(work.name, total=config.rounds, note="") for work in works
        }

        async def one(work: Work) -> None:
            async with free:
                for words in todo(work):
                    _copy_start(works, work, run)
                    progress.update(bars[work.name], note=words[0])
                    async with _process(work, words) as process:
                        while not await _ended(process):
                            progress.update(bars[work.name], completed=work.version)
                    if process.returncode:
                        raise _failure(work, words, process.returncode)
                progress.update(bars[work.name], completed=work.version, note="done")
                session.report.note(f"{work.name}: version {work.version}, {run} judged")

        await together(one(work) for work in works)


def shards(session: Session, work: Work) -> int:
    """Return how many shards an arm has; ``BadInput`` where arms would share one store."""
    memory = session.settings.section(MemoryConfig)
    if memory.uri:
        raise BadInput(
            "memory.uri is set, but every arm needs a store of its own; leave it out for an ablation"
        )
    if not (work.home / "store").exists():
        return 0
    with Store.open(memory.place(work.home), memory) as store:
        return len(store.shards())


def _copy_start(works: Sequence[Work], work: Work, run: str) -> None:
    """Take the starting policy's result from another arm: it is the same policy.

    Harmless where it is not: a stored result counts only for the weights that it was measured on.
    """
    target = path_of(work.home / "runs" / run, 0)
    for other in works:
        source = path_of(other.home / "runs" / run, 0)
        if source.exists() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target.with_suffix(".new"))
            target.with_suffix(".new").rename(target)


@contextlib.asynccontextmanager
async def _process(work: Work, words: Sequence[str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run one command; it is interrupted, and waited for, when we are."""
    work.home.mkdir(parents=True, exist_ok=True)
    with (work.home / "log.txt").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "spadework", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=os.environ | {"OMP_WAIT_POLICY": "passive"},
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
            await process.wait()


async def _ended(process: asyncio.subprocess.Process) -> bool:
    """Wait a little; return whether the process has ended."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), LOOK_S)
    return process.returncode is not None


def _failure(work: Work, words: Sequence[str], code: int) -> BadInput | OurFault:
    path = work.home / "log.txt"
    said = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    last = said[-1].removeprefix("error: ") if said else f"it ended with {code}"
    line = f"{work.name}: `spadework {words[0]}` failed: {last} (all it said: {path})"
    return BadInput(line) if code == 2 else OurFault(line)
