"""Playing environments in both arms until the probe has seen enough: new designs and known ones."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from envgen.config import ProbeConfig
from envgen.probe import Probe, Trial
from envgen.progress import Meter
from envgen.workspace import Workspace
from memory import PlayRecord, record_id
from sandbox import Playable, SandboxFault
from solver.config import SolverConfig
from solver.episodes import play
from solver.policy import Sampling
from spadekit.seeds import derive
from spadekit.tasks import together

T = TypeVar("T")
RETRY_AFTER_S = (0.1, 0.4)


class Measuring:
    """Plays for one piece of work; ``name`` tells its seeds and play ids from those of any other.

    All environments share the bound ``probe.max_parallel`` on episodes in flight. ``meter`` is told of
    each play as it ends.
    """

    def __init__(self, work: Workspace, name: tuple[str | int, ...], meter: Meter) -> None:
        self.work = work
        self.name = name
        self.meter = meter
        self.config = work.settings.section(ProbeConfig)
        self.solver = work.settings.section(SolverConfig)
        self._playing = asyncio.Semaphore(self.config.max_parallel)

    async def finish(
        self,
        environment: str,
        source: str,
        hint: str,
        plays: list[PlayRecord],
        keep: Callable[[list[PlayRecord]], None],
    ) -> None:
        """Play batch after batch until the rule stops; ``plays`` holds those made before and grows.

        ``keep`` is called with each batch when it is finished. Raises ``EnvironmentFault`` for a
        source that does not load, ``SandboxFault`` when trying again did not help.
        """
        seed = derive(self.work.seed, *self.name)
        plan = Probe(self.config.plays, self.config.error, seed=seed, environment=environment)
        if plays:
            self.meter.step("played", plays=len(plays), tokens=sampled(plays))
        while trials := plan.next(plays):
            records = await retried(partial(self._plays, environment, source, hint, trials))
            keep(records)
            plays += records

    async def _plays(
        self, environment: str, source: str, hint: str, trials: Sequence[Trial]
    ) -> list[PlayRecord]:
        async with self.work.workers.lease(source) as jail:
            return await together(self._play(environment, hint, jail, trial) for trial in trials)

    async def _play(self, environment: str, hint: str, jail: Playable, trial: Trial) -> PlayRecord:
        name = (*self.name, environment, trial.seed, trial.arm)
        seed = derive(self.work.seed, *name)
        async with self._playing:
            episode = await play(
                self.work.policy,
                jail,
                seed=trial.seed,
                hint=hint if trial.arm == "hinted" else None,
                sampling=Sampling.of(self.solver, seed),
                max_turns=self.solver.max_turns,
                prompt=self.solver.prompt,
                context=self.solver.context,
            )
        record = episode.record(
            id=record_id("play", self.work.run, *name),
            environment=environment,
            purpose="probe",
            arm=trial.arm,
        )
        self.meter.step("played", plays=1, tokens=sampled([record]))
        return record


async def retried(work: Callable[[], Awaitable[T]]) -> T:
    """Try again after a fault of ours; the last one is raised."""
    for pause in RETRY_AFTER_S:
        try:
            return await work()
        except SandboxFault:
            await asyncio.sleep(pause)
    return await work()


def as_entry(index: int, plays: Sequence[PlayRecord]) -> dict[str, Any]:
    """Return the line of a journal that keeps the plays of number ``index``."""
    return {
        "kind": "plays",
        "index": index,
        "plays": [dataclasses.asdict(record) for record in plays],
    }


def from_entry(entry: dict[str, Any]) -> list[PlayRecord]:
    """Return the plays that a line of ``as_entry`` keeps."""
    return [_record(values) for values in entry["plays"]]


def sampled(plays: Sequence[PlayRecord]) -> int:
    """Count the tokens that the policy sampled in some plays."""
    return sum(sum(record.mask) for record in plays)


def _record(values: dict[str, Any]) -> PlayRecord:
    lists = {name: tuple(values[name]) for name in ("ids", "mask", "logprobs")}
    return PlayRecord(**values | lists)
