"""Play the held-out set with policy versions; what was measured before is read, not played."""

import datetime as dt
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.config import HeldoutConfig
from bench.heldout.dataset import HeldoutEnvironment, HeldoutSet, read_set
from bench.heldout.results import Protocol, Result, Returns, path_of, read, save
from bench.machine import machine
from bench.playing import playing_of
from sandbox import Pool, Sandbox, SandboxConfig
from solver.config import PolicyConfig, SolverConfig
from solver.engines import open_policy
from solver.episodes import Job, Play, play_many
from solver.policy import Policy
from solver.versions import Versions
from spadekit.errors import BadInput
from spadekit.seeds import derive
from spadekit.settings import Settings


@dataclass(frozen=True)
class Evaluator:
    """What is needed to judge versions of one run; make it with ``open_evaluator``."""

    run_dir: Path
    versions: Versions
    policy: Policy
    pool: Pool
    heldout: HeldoutSet
    protocol: Protocol
    solver: SolverConfig

    async def evaluate(self, version: int) -> Result:
        """Return the stored result of a version, or play the set, store the result and return it.

        A stored result counts when the weights and everything of the protocol are the same.
        Raises ``BadInput`` for a version that is not there, ``SandboxFault`` for a fault of ours.
        """
        weights = self.versions.read(version).weights
        found = reusable(self.run_dir, version, weights, self.protocol)
        if found is not None:
            return found
        if self.policy.version != version:
            await self.policy.load(self.versions.path(version))
        started = time.monotonic()
        sampled = await self._plays(self.protocol.plays, self.protocol.temperature)
        greedy = await self._plays(self.protocol.greedy_plays, 0.0)
        result = Result(
            version=version,
            weights=weights,
            protocol=self.protocol,
            environments=tuple(
                _returns(one, sampled[one.id], greedy[one.id]) for one in self.heldout.environments
            ),
            seconds=round(time.monotonic() - started, 3),
            created=dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
            machine=machine(),
        )
        save(self.run_dir, result)
        return result

    async def _plays(self, count: int, temperature: float) -> dict[str, list[Play]]:
        """Play every environment on its first ``count`` instances, the same for all versions."""
        jobs = [
            job for one in self.heldout.environments for job in jobs_of(one, count, self.protocol)
        ]
        config = replace(self.solver, temperature=temperature)
        plays = await play_many(self.policy, self.pool, jobs, config)
        by_environment: dict[str, list[Play]] = {one.id: [] for one in self.heldout.environments}
        for job, play in zip(jobs, plays, strict=True):
            by_environment[job.environment].append(play)
        return by_environment


def jobs_of(environment: HeldoutEnvironment, count: int, protocol: Protocol) -> list[Job]:
    """Return the unhinted plays of one environment on its first ``count`` instances."""
    name = ("heldout", environment.id)
    return [
        Job(
            environment=environment.id,
            source=environment.source,
            seed=derive(protocol.seed, *name, "instance", index) % 2**31,
            hint=None,
            sample_seed=derive(protocol.seed, *name, "sample", index),
        )
        for index in range(count)
    ]


def reusable(run_dir: Path, version: int, weights: str, protocol: Protocol) -> Result | None:
    """Return the stored result of a version if it was measured on these weights in this way."""
    path = path_of(run_dir, version)
    if not path.exists():
        return None
    found = read(path)
    same = (found.version, found.weights, found.protocol) == (version, weights, protocol)
    return found if same else None


def protocol_of(settings: Settings, heldout: HeldoutSet) -> Protocol:
    """Return the protocol that the settings ask for."""
    config, solver = settings.section(HeldoutConfig), settings.section(SolverConfig)
    temperature = solver.temperature if config.temperature is None else config.temperature
    if temperature <= 0:
        raise BadInput("[solver] plays greedily (temperature 0); set heldout.temperature above 0")
    playing = replace(
        playing_of(settings),
        temperature=temperature,
        max_tokens=solver.max_tokens if config.max_tokens is None else config.max_tokens,
        max_turns=solver.max_turns if config.max_turns is None else config.max_turns,
    )
    return Protocol(
        **asdict(playing),
        data=heldout.name,
        data_digest=heldout.digest,
        plays=config.plays,
        greedy_plays=config.greedy_plays,
        seed=config.seed,
    )


@asynccontextmanager
async def open_evaluator(
    home: Path, run: str, settings: Settings, first: int, note: Callable[[str], None]
) -> AsyncIterator[Evaluator]:
    """Read the set, load version ``first`` and open the sandbox. Raises ``BadInput`` early."""
    config = settings.section(HeldoutConfig)
    heldout = read_set(config.path)
    protocol = protocol_of(settings, heldout)
    versions = Versions(home / "policy")
    versions.read(first)
    solver = replace(
        settings.section(SolverConfig),
        max_tokens=protocol.max_tokens,
        max_turns=protocol.max_turns,
        concurrency=config.max_parallel,
    )
    async with (
        open_policy(versions.path(first), settings.section(PolicyConfig), note) as policy,
        Sandbox(settings.section(SandboxConfig)) as sandbox,
        Pool(sandbox) as pool,
    ):
        yield Evaluator(home / "runs" / run, versions, policy, pool, heldout, protocol, solver)


def chosen(versions: Sequence[int], every: int) -> list[int]:
    """Return the first version, every ``every``-th after it, and the last."""
    return sorted({*versions[::every], *versions[-1:]})


def _returns(
    environment: HeldoutEnvironment, sampled: Sequence[Play], greedy: Sequence[Play]
) -> Returns:
    return Returns(
        id=environment.id,
        setting=environment.setting,
        skill=environment.skill,
        family=environment.family,
        level=environment.level,
        sampled=tuple(one.episode_return for one in sampled if one.episode_return is not None),
        greedy=tuple(one.episode_return for one in greedy if one.episode_return is not None),
        faulted=sum(one.episode_return is None for one in [*sampled, *greedy]),
    )
