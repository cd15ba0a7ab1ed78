"""Who takes part: the policy versions and shards of a run, and a sample of each shard's environments."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.figures import run_shards, run_versions
from bench.heldout.evaluate import chosen
from bench.ladder.config import LadderConfig
from bench.statistics import Estimate, clustered_mean
from memory import EnvironmentRecord, ShardData, Store
from memory.standing import FRONTIER_HIGH, FRONTIER_LOW
from solver.versions import Versions
from spadekit.errors import BadInput
from spadekit.seeds import derive


@dataclass(frozen=True)
class Contestant:
    """A policy version: digest of its weights, the version and the shard that it was trained from."""

    version: int
    weights: str
    parent: int | None
    shard: int | None


@dataclass(frozen=True)
class Course:
    """A shard: who designed it, its sample in the order it is played, the share that was learnable then."""

    shard: int
    designer: int
    digest: str
    environments: tuple[EnvironmentRecord, ...]
    learnable: Estimate
    """Share of all its environments whose return, unhinted and by the designer's version as measured when
    the shard was published, lies in [0.15, 0.85]."""


@dataclass(frozen=True)
class Field:
    """Versions in order and shards in order."""

    contestants: tuple[Contestant, ...]
    courses: tuple[Course, ...]

    @property
    def data(self) -> str:
        """One digest of the shards: the revision of the data."""
        return hashlib.sha256("\n".join(one.digest for one in self.courses).encode()).hexdigest()

    @property
    def places(self) -> Mapping[int, int]:
        """Where each version stands among the contestants."""
        return {one.version: place for place, one in enumerate(self.contestants)}

    @property
    def environments(self) -> list[EnvironmentRecord]:
        """The sampled environments of all shards, shard by shard."""
        return [one for course in self.courses for one in course.environments]


def gather(home: Path, store: Store, run: str, config: LadderConfig) -> Field:
    """Return the field of a run; shards without environments are left out.

    Raises ``BadInput`` for an unknown run and for one with fewer than two versions or no environment.
    """
    manifests = run_shards(home, store, run)
    versions = Versions(home / "policy")
    numbers = chosen(run_versions(versions, manifests), config.every)
    if len(numbers) < 2:
        raise BadInput(
            f"run {run!r} has {len(numbers)} policy version{'' if len(numbers) == 1 else 's'}, a ladder "
            f"needs two; `spadework loop --run {run}` makes them"
        )
    contestants = []
    for number in numbers:
        info = versions.read(number)
        contestants.append(Contestant(number, info.weights, info.parent, info.shard))
    courses = [_course(store.shard(one.shard), config) for one in manifests]
    courses = [one for one in courses if one.environments]
    if not courses:
        raise BadInput(f"no shard of run {run!r} has an environment; there is nothing to play")
    return Field(tuple(contestants), tuple(courses))


def _course(data: ShardData, config: LadderConfig) -> Course:
    drawn = sorted(
        data.environments,
        key=lambda one: derive(config.seed, "ladder", data.manifest.shard, one.id),
    )
    return Course(
        data.manifest.shard,
        data.manifest.policy_version,
        data.manifest.digest,
        tuple(drawn[: config.environments]),
        clustered_mean(
            {
                one.environment: [float(FRONTIER_LOW <= one.return_unhinted <= FRONTIER_HIGH)]
                for one in data.standings
                if one.plays_unhinted
            }
        ),
    )
