"""The figures of a run, from shards, policy versions and held-out results. Nothing is played.

R  rounds of the run; each published one shard
V  policy versions of the run: those its shards were designed with or that were trained on them
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench.heldout.results import DECODINGS, Result, change, comparable, stored
from bench.statistics import Estimate, clustered_mean
from envgen.summary import summarise
from memory import EnvironmentRecord, Manifest, ShardData, StandingRecord, Store
from memory.stats import histogram
from solver.curves import flat, of_round, of_version
from solver.versions import PolicyInfo, Versions
from spadekit.errors import BadInput


@dataclass(frozen=True)
class RoundFigures:
    """One shard. Returns and regret are over its admitted environments, each of them a cluster."""

    round: int
    policy_version: int
    designs: int
    valid: float | None
    admitted: int
    duplicates: int
    faulted: int
    refused_at: Mapping[str, int]
    return_unhinted: Estimate
    return_hinted: Estimate
    regret: Estimate
    learnable: float | None
    designer_reward: float | None
    vendi_share: float | None
    plays: int
    faulted_plays: int
    tokens: int
    seconds: Mapping[str, float]
    regrets: tuple[int, ...]
    """Environments in each of the bins that ``memory.stats.BINS`` parts."""
    values: Mapping[str, float]
    """What its manifest says, by the names of ``solver.curves``."""


@dataclass(frozen=True)
class TrainingFigures:
    """The step that made a policy version: its metrics by the names of ``solver.curves``."""

    version: int
    shard: int | None
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class VersionFigures:
    """A policy version: where it is from, and what was designed with it."""

    version: int
    parent: int | None
    step: int
    shard: int | None
    """The shard that it was trained on."""
    rounds: tuple[int, ...]
    """The rounds that were designed with it."""
    weights: str
    settings: str
    """Digests."""


@dataclass(frozen=True)
class HeldoutFigures:
    """A version on the held-out set, and its paired difference to the run's first version."""

    version: int
    sampled: Estimate
    greedy: Estimate
    change_sampled: Estimate
    change_greedy: Estimate


@dataclass(frozen=True)
class Example:
    """An environment worth looking at."""

    id: str
    round: int
    title: str
    skill: str
    return_unhinted: float
    return_hinted: float
    regret: float


@dataclass(frozen=True)
class RunFigures:
    """Everything the report shows. ``change`` is the paired difference, first to last version."""

    run: str
    rounds: tuple[RoundFigures, ...]
    training: tuple[TrainingFigures, ...]
    versions: tuple[VersionFigures, ...]
    heldout: tuple[HeldoutFigures, ...]
    change: Mapping[str, Estimate]
    heldout_protocol: Mapping[str, Any]
    heldout_by_family: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    heldout_left_out: int
    examples: tuple[Example, ...]
    settings: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return plain data for ``--json``."""
        return asdict(self)


def known_runs(home: Path, manifests: Sequence[Manifest]) -> list[str]:
    """Return the names of the runs that published a shard or left a record under ``runs/``."""
    names = {str(one.meta["run"]) for one in manifests if one.meta.get("run")}
    folder = home / "runs"
    if folder.is_dir():
        names |= {entry.parent.name for entry in folder.glob("*/run.json")}
    return sorted(names)


def run_shards(home: Path, store: Store, run: str) -> list[Manifest]:
    """Return the shards of a run in order; ``BadInput`` lists the runs there are."""
    manifests = store.shards()
    found = [one for one in manifests if one.meta.get("run") == run]
    if not found:
        runs = known_runs(home, manifests)
        if run in runs:
            raise BadInput(f"run {run!r} has not finished a round yet; let it publish one first")
        there = f"the runs there are: {', '.join(runs)}" if runs else "there is no run yet"
        raise BadInput(f"no run {run!r} in {home}; {there}")
    return found


def run_versions(versions: Versions, manifests: Sequence[Manifest]) -> list[int]:
    """Return the policy versions of a run, ascending: its designers', and those trained on it."""
    shards = {one.shard for one in manifests}
    used = {one.policy_version for one in manifests}
    return [
        version
        for version in versions.all()
        if version in used or versions.read(version).shard in shards
    ]


def gather(home: Path, store: Store, versions: Versions, run: str) -> RunFigures:
    """Return the figures of a run. Raises ``BadInput`` for an unknown run or damaged data."""
    manifests = run_shards(home, store, run)
    vendi = {one.shard: one.vendi_share for one in store.stats().shards}
    rounds, examples = [], []
    for manifest in manifests:
        data = store.shard(manifest.shard)
        rounds.append(_round(data, vendi.get(manifest.shard)))
        examples += _examples(manifest.shard, data.environments, data.standings)
    made = [versions.read(version) for version in run_versions(versions, manifests)]
    shards = {one.shard for one in manifests}
    training = tuple(_training(info) for info in made if info.shard in shards)
    results, left_out = comparable(stored(home / "runs" / run), versions)
    return RunFigures(
        run=run,
        rounds=tuple(rounds),
        training=training,
        versions=tuple(_version(info, rounds) for info in made),
        heldout=tuple(
            HeldoutFigures(
                one.version,
                one.estimate("sampled"),
                one.estimate("greedy"),
                change(results[0], one, "sampled"),
                change(results[0], one, "greedy"),
            )
            for one in results
        ),
        change={decoding: change(results[0], results[-1], decoding) for decoding in DECODINGS}
        if results[1:]
        else {},
        heldout_protocol=_protocol(results),
        heldout_by_family=_families(results),
        heldout_left_out=left_out,
        examples=tuple(sorted(examples, key=lambda one: (-one.round, -one.regret))[:12]),
        settings=_settings(home / "runs" / run / "run.json"),
    )


def _round(data: ShardData, vendi_share: float | None) -> RoundFigures:
    standings = data.standings
    sums = summarise(data.designs, standings, data.plays)
    return RoundFigures(
        round=data.manifest.shard,
        policy_version=data.manifest.policy_version,
        designs=sums["designs"],
        valid=sums["valid"] / sums["designs"] if sums["designs"] else None,
        admitted=sums["admitted"],
        duplicates=sums["duplicates"],
        faulted=sums["faulted"],
        refused_at=sums["refused_at"],
        return_unhinted=_over(standings, "return_unhinted", "plays_unhinted"),
        return_hinted=_over(standings, "return_hinted", "plays_hinted"),
        regret=_over(standings, "regret", "plays_unhinted", "plays_hinted"),
        learnable=sums["learnable"],
        designer_reward=sums["designer_reward"],
        vendi_share=vendi_share,
        plays=sums["plays"],
        faulted_plays=sums["faulted_plays"],
        tokens=sums["tokens"],
        seconds=dict(flat(data.manifest.meta.get("seconds", {}))),
        regrets=histogram([one.regret for one in standings]),
        values=of_round(data.manifest).values,
    )


def _over(standings: Sequence[StandingRecord], name: str, *plays: str) -> Estimate:
    """Return the mean of a standing's figure over environments; ``n`` counts their plays.

    A standing is nan where nothing was measured; those environments are left out.
    """
    known = [one for one in standings if not math.isnan(getattr(one, name))]
    found = clustered_mean({one.environment: [float(getattr(one, name))] for one in known})
    return replace(found, n=sum(getattr(one, arm) for one in known for arm in plays))


def _training(info: PolicyInfo) -> TrainingFigures:
    return TrainingFigures(info.version, info.shard, of_version(info, 0.0).values)


def _version(info: PolicyInfo, rounds: Sequence[RoundFigures]) -> VersionFigures:
    return VersionFigures(
        version=info.version,
        parent=info.parent,
        step=info.step,
        shard=info.shard,
        rounds=tuple(one.round for one in rounds if one.policy_version == info.version),
        weights=info.weights,
        settings=info.config,
    )


def _examples(
    shard: int, environments: Sequence[EnvironmentRecord], standings: Sequence[StandingRecord]
) -> list[Example]:
    by_id = {one.id: one for one in environments}
    best = sorted(
        (one for one in standings if one.status == "frontier" and one.environment in by_id),
        key=lambda one: -one.regret,
    )
    return [
        Example(
            id=one.environment,
            round=shard,
            title=by_id[one.environment].title,
            skill=", ".join(by_id[one.environment].skills),
            return_unhinted=one.return_unhinted,
            return_hinted=one.return_hinted,
            regret=one.regret,
        )
        for one in best[:3]
    ]


def _protocol(results: Sequence[Result]) -> dict[str, Any]:
    if not results:
        return {}
    newest = results[-1]
    return {
        **asdict(newest.protocol),
        "environments": len(newest.environments),
        "faulted_plays": sum(one.faulted for one in newest.environments),
        "machine": dict(newest.machine),
    }


def _families(results: Sequence[Result]) -> dict[str, dict[str, dict[str, Estimate]]]:
    """Return family -> version -> decoding -> estimate for the first and the last version."""
    ends = list(dict.fromkeys([results[0].version, results[-1].version])) if results else []
    table: dict[str, dict[str, dict[str, Estimate]]] = {}
    for one in results:
        if one.version not in ends:
            continue
        for decoding in DECODINGS:
            for family, estimate in one.by_family(decoding).items():
                table.setdefault(family, {}).setdefault(str(one.version), {})[decoding] = estimate
    return dict(sorted(table.items()))


def _settings(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: not a run's record ({error}); restore or remove it") from None
    return found if isinstance(found, dict) else {}
