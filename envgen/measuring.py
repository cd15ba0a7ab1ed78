"""Measuring an environment: both arms are played until the probe has seen enough."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from envgen.config import ProbeConfig
from envgen.probe import Probe, Trial
from envgen.workspace import Workspace
from memory import PlayRecord, record_id
from sandbox import Jail, SandboxFault
from solver.config import SolverConfig
from solver.episodes import play
from solver.policy import Sampling
from spadekit.seeds import derive
from spadekit.tasks import together

T = TypeVar("T")
RETRY_AFTER_S = (0.1, 0.4)


class Measuring:
    """Plays environments with the policy that the workspace serves, a bounded number at once.

    ``name`` sets the seeds and ids of these plays apart from those of any other measuring. ``heard``
    is told of every play as it ends.
    """

    def __init__(
        self,
        work: Workspace,
        name: tuple[str | int, ...],
        heard: Callable[[PlayRecord], None],
    ) -> None:
        self._work, self._name, self._heard = work, name, heard
        self._probe = work.settings.section(ProbeConfig)
        self._solver = work.settings.section(SolverConfig)
        self._playing = asyncio.Semaphore(self._probe.max_parallel)

    async def finish(
        self,
        identity: str,
        source: str,
        hint: str,
        plays: list[PlayRecord],
        note: Callable[[Sequence[PlayRecord]], None],
    ) -> None:
        """Add to ``plays``, batch after batch, until the measurement is finished.

        ``plays`` may hold what was played before a kill; ``note`` is given each new batch. Raises
        ``EnvironmentFault`` for a source that does not load any more and ``SandboxFault``.
        """
        seed = derive(self._work.seed, *self._name)
        plan = Probe(self._probe.plays, self._probe.error, seed=seed, environment=identity)
        while trials := plan.next(plays):
            records = await retried(partial(self._plays, identity, source, hint, trials))
            note(records)
            plays += records

    async def _plays(
        self, identity: str, source: str, hint: str, trials: Sequence[Trial]
    ) -> list[PlayRecord]:
        async with self._work.pool.lease(source) as jail:
            return await together(self._play(identity, jail, hint, trial) for trial in trials)

    async def _play(self, identity: str, jail: Jail, hint: str, trial: Trial) -> PlayRecord:
        name = (*self._name, identity, trial.seed, trial.arm)
        seed = derive(self._work.seed, *name)
        async with self._playing:
            episode = await play(
                self._work.policy,
                jail,
                seed=trial.seed,
                hint=hint if trial.arm == "hinted" else None,
                sampling=Sampling(self._solver.temperature, self._solver.max_tokens, seed),
                max_turns=self._solver.max_turns,
                prompt=self._solver.prompt,
                context=self._solver.context,
            )
        record = episode.record(
            id=record_id("play", self._work.run, *name),
            environment=identity,
            purpose="probe",
            arm=trial.arm,
        )
        self._heard(record)
        return record


async def retried(work: Callable[[], Awaitable[T]]) -> T:
    """Try again after a fault of ours; the last one is raised."""
    for pause in RETRY_AFTER_S:
        try:
            return await work()
        except SandboxFault:
            await asyncio.sleep(pause)
    return await work()


def as_entries(plays: Sequence[PlayRecord]) -> list[dict[str, Any]]:
    """Return plays as a journal keeps them."""
    return [dataclasses.asdict(record) for record in plays]


def from_entries(entries: Sequence[dict[str, Any]]) -> list[PlayRecord]:
    """Return the plays that ``as_entries`` wrote down."""
    return [
        PlayRecord(**values | {name: tuple(values[name]) for name in ("ids", "mask", "logprobs")})
        for values in entries
    ]
