"""One GRPO step for both roles on one shard: play, compare within groups, update, publish.

    shard r ──► designs (groups by brief, reward from the probe) ───────────────┐
       │                                                                        ├─► version r
       └──────► environments ─► plays (groups by instance, reward = return) ────┘

Both roles move the same weights. By default each has its own optimiser steps and Adam state: in one
shared step the designer's long samples take over the update, and in the prototype the share of
valid designs fell from 0.70 to 0.48 within twenty rounds.

The step is a function of the parent version, the shard and the settings: plays are sampled in
lockstep (see ``solver.engines.local``), so a step that was killed and is done again gives the same
bytes, unless an environment runs into a time limit in one of the two.
"""

import asyncio
import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from memory import EnvironmentRecord, PlayRecord, Store, measure, record_id
from sandbox import Pool
from solver import curriculum
from solver.advantages import centred, scaled
from solver.config import SolverConfig, TrainConfig
from solver.curriculum import Candidate
from solver.episodes import Job, Play, play_many
from solver.learner import Item, Learner, Share, Tally, recorded
from solver.loss import divisor
from solver.policy import Policy
from solver.samples import Batch, Role, from_designs, from_plays
from solver.versions import INFO, OPTIMISER, PolicyInfo, Versions
from spadekit.errors import BadInput, OurFault
from spadekit.seeds import derive
from spadekit.settings import Settings

ROLES: tuple[Role, Role] = ("solver", "designer")
Metrics = dict[str, Any]


@dataclass(frozen=True)
class StepResult:
    """What a step came to. ``trained`` is False when the version was there already."""

    version: int
    trained: bool
    metrics: Metrics


@dataclass(frozen=True)
class Plan:
    """What a step will play and train on, before anything is done."""

    version: int
    parent: int
    shard: int
    environments: tuple[EnvironmentRecord, ...]
    jobs: tuple[Job, ...]
    designs: Batch


async def train_step(
    store: Store,
    policy: Policy,
    pool: Pool,
    versions: Versions,
    settings: Settings,
    shard: int,
    *,
    version: int | None = None,
) -> StepResult:
    """Train on a pinned shard and publish the policy version that results.

    ``version`` is by default the shard's number; its parent is the one before. A version that is
    there is not made again. ``policy`` serves the parent afterwards; switching it is the caller's.
    Raises ``BadInput`` for a shard or parent that is missing or damaged, ``SandboxFault`` when
    environments cannot be run.
    """
    began = time.perf_counter()
    target = shard if version is None else version
    if versions.has(target):
        return StepResult(target, False, dict(versions.read(target).metrics))
    config, playing = settings.section(TrainConfig), settings.section(SolverConfig)
    step = plan(store, versions, config, shard, target)
    # Also when the parent serves already: rows kept from other plays would change the last bits.
    await policy.load(versions.path(step.parent))

    forward = policy.forward_seconds
    plays = await play_many(policy, pool, step.jobs, playing)
    records = [
        play.record(
            id=record_id("train", target, job.environment, job.seed, job.sample_seed),
            environment=job.environment,
            purpose="train",
            arm="unhinted",
        )
        for job, play in zip(step.jobs, plays, strict=True)
    ]
    store.append_plays(records)
    played = time.perf_counter()

    batches: dict[Role, Batch] = {"solver": from_plays(records), "designer": step.designs}
    figures: Metrics = {
        "version": target,
        "parent": step.parent,
        "shard": shard,
        "environments": len(step.environments),
        "replayed": sum(one.shard != shard for one in step.environments),
        "plays": _describe(records, plays),
    }
    learner, learnt = await asyncio.to_thread(_learn, versions, step, batches, config)
    ended = time.perf_counter()
    figures |= learnt
    figures["seconds"] = {
        "play": played - began,
        "forward": policy.forward_seconds - forward,
        "backward": ended - played,
        "total": ended - began,
    }
    count = versions.read(step.parent).step + 1
    info = PolicyInfo(target, step.parent, count, shard, settings.digest, {}, figures)
    _publish(versions, info, learner)
    _settle(store, step, records)
    return StepResult(target, True, figures)


def plan(store: Store, versions: Versions, config: TrainConfig, shard: int, version: int) -> Plan:
    """Decide what a step plays and trains on; changes nothing. Raises ``BadInput``."""
    parent = version - 1
    if not versions.has(parent):
        raise BadInput(
            f"policy version {version} needs version {parent}, which is not in {versions.root}; "
            "train on the shards before it first"
        )
    versions.validate(parent)
    data = store.shard(shard)
    standings = store.latest_standings(parent)
    here = {one.id: one for one in data.environments}
    frontier = [name for name, one in standings.items() if one.status == "frontier"]
    elsewhere = store.environments(ids=sorted(set(frontier) - here.keys()))
    known = here | {one.id: one for one in elsewhere}
    candidates = [
        Candidate(name, one.shard, standings[name].status if name in standings else "unmeasured")
        for name, one in known.items()
    ]
    chosen = curriculum.choose(
        candidates,
        shard=shard,
        count=config.groups if config.solver_weight else 0,
        replay=config.replay,
        seed=derive(config.seed, "choose", version),
    )
    jobs = [
        Job(
            environment=name,
            source=known[name].source,
            seed=derive(config.seed, "instance", version, name, number) % 2**31,
            hint=None,
            sample_seed=derive(config.seed, "play", version, name, number, member),
        )
        for name, number in curriculum.instances(
            chosen, groups=config.groups, most=config.instances
        )
        for member in range(config.group)
    ]
    designs = from_designs(data.designs if config.designer_weight else (), parent, config.max_lag)
    return Plan(version, parent, shard, tuple(known[name] for name in chosen), tuple(jobs), designs)


def _learn(
    versions: Versions, step: Plan, batches: dict[Role, Batch], config: TrainConfig
) -> tuple[Learner, Metrics]:
    """Update the parent's weights on the batches. Runs in a thread."""
    torch.set_num_threads(config.threads)
    rates = {"solver": config.solver_rate, "designer": config.designer_rate}
    if config.optimiser == "shared":
        rates = {"shared": config.solver_rate}
    learner = Learner(versions.path(step.parent), rates, config)
    for role, batch in batches.items():
        largest = max((max(sample.ids) for sample in batch.samples), default=0)
        if largest >= learner.vocabulary:
            raise BadInput(
                f"a sample of the {role} in shard {step.shard} has the token id {largest}, but the "
                f"model has {learner.vocabulary}; train the model that made the shard"
            )
    try:
        return learner, learn(learner, batches, config, step.parent, versions.path(0))
    except ValueError as error:
        raise OurFault(
            f"the update from version {step.parent} on shard {step.shard} was given up: {error}; "
            "nothing was published. Lower train.solver_rate and train.designer_rate"
        ) from error


def _publish(versions: Versions, info: PolicyInfo, learner: Learner) -> None:
    """Publish the learner's state; tokenizer files and the like are the parent's."""
    assert info.parent is not None
    parent = versions.path(info.parent)

    def write(folder: Path) -> None:
        for entry in sorted(parent.iterdir()):
            if not entry.name.startswith("model") and entry.name not in (INFO, OPTIMISER):
                shutil.copyfile(entry, folder / entry.name)
        learner.save(folder)

    versions.publish(info, write)


def learn(
    learner: Learner,
    batches: dict[Role, Batch],
    config: TrainConfig,
    version: int,
    start: Path,
) -> Metrics:
    """Take all optimiser steps of one training step; return the metrics of both roles.

    Separate: the solver's steps, then the designer's. Shared: as many steps as the solver's,
    each on a part of both roles. ``version`` is the policy version of the learner's weights,
    ``start`` the folder of the policy that the KL term refers to.
    """
    weights: dict[Role, float] = {
        "solver": config.solver_weight,
        "designer": config.designer_weight,
    }
    updates: dict[Role, int] = {
        "solver": config.solver_updates,
        "designer": config.designer_updates,
    }
    if config.optimiser == "shared":
        updates["designer"] = config.solver_updates
    parts: dict[Role, list[list[Item]]] = {}
    for role in ROLES:
        samples = batches[role].samples
        advantages = centred([one.reward for one in samples], [one.group for one in samples])
        if config.advantages == "scaled":
            advantages = scaled(advantages)
        items = [Item(*pair) for pair in zip(samples, advantages, strict=True)]
        random.Random(derive(config.seed, "order", version, role)).shuffle(items)
        count = min(updates[role], len(items))
        parts[role] = [items[number::count] for number in range(count)]
    everything = [item for role in ROLES for part in parts[role] for item in part]
    if config.kl:
        reference = Learner(start, {}, config)
        for item, logp_N in zip(
            everything, reference.logprobs([item.sample for item in everything]), strict=True
        ):
            item.reference = logp_N

    def anchor(role: Role, moved: bool) -> None:
        """Fix the policy that ratios are clipped to, for all parts but the first.

        The first part is trained on the policy as it stands. What was sampled by these very weights
        need not be computed again: sampler and trainer agree to 1e-4.
        """
        later = [item for part in parts[role][1:] for item in part if item.advantage]
        stale = [item for item in later if moved or item.sample.version != version]
        for item in later:
            item.anchor = recorded(item.sample)
        for item, logp_N in zip(
            stale, learner.logprobs([item.sample for item in stale]), strict=True
        ):
            item.anchor = logp_N

    def share(role: Role, number: int) -> Share:
        items = parts[role][number] if number < len(parts[role]) else []
        below = divisor(
            config.aggregation,
            tokens=sum(item.sample.tokens for item in items),
            samples=len(items),
            length=config.dr_grpo_tokens,
        )
        return Share(items, weights[role], below)

    tallies: dict[Role, list[Tally]] = {role: [] for role in ROLES}
    norms: dict[Role, list[float]] = {role: [] for role in ROLES}
    schedule: list[tuple[str, tuple[Role, ...]]] = (
        [("shared", ROLES)]
        if config.optimiser == "shared"
        else [("solver", ("solver",)), ("designer", ("designer",))]
    )
    moved = False
    for optimiser, roles in schedule:
        for role in roles:
            anchor(role, moved)
        for number in range(max(len(parts[role]) for role in roles)):
            done, norm = learner.step(optimiser, [share(role, number) for role in roles])
            for role, tally in zip(roles, done, strict=True):
                tallies[role].append(tally)
                norms[role].append(norm)
            moved = moved or norm > 0
    return {
        role: _figures(batches[role], parts[role], tallies[role], norms[role], version)
        for role in ROLES
    }


def _figures(
    batch: Batch,
    parts: Sequence[Sequence[Item]],
    tallies: Sequence[Tally],
    norms: Sequence[float],
    version: int,
) -> Metrics:
    """Metrics of one role; None where there was nothing to measure."""
    samples = batch.samples
    groups: dict[str, set[float]] = {}
    for sample in samples:
        groups.setdefault(sample.group, set()).add(sample.reward)
    tokens = sum(tally.tokens for tally in tallies)

    def per_token(name: str) -> float | None:
        return sum(getattr(tally, name) for tally in tallies) / tokens if tokens else None

    return {
        "samples": len(samples),
        "trained": sum(bool(item.advantage) for part in parts for item in part),
        "groups": len(groups),
        "groups_live": sum(len(rewards) > 1 for rewards in groups.values()),
        "groups_dropped": len(batch.dropped_groups),
        "dropped": dict(sorted(batch.dropped.items())),
        "reward": _mean([sample.reward for sample in samples]),
        "tokens": sum(sample.tokens for sample in samples),
        "tokens_trained": tokens,
        "positions": sum(tally.fed for tally in tallies),
        "loss": _mean([tally.loss for tally in tallies]),
        "grad_norm": _mean(norms),
        "clip_share": per_token("clipped"),
        "importance": per_token("importance"),
        "kl_behaviour": per_token("kl_behaviour"),
        "lag": _mean([float(version - sample.version) for sample in samples]),
    }


def _describe(records: Sequence[PlayRecord], plays: Sequence[Play]) -> Metrics:
    """Figures of the plays: whose fault it was when something went wrong is kept apart."""
    returns = [one.episode_return for one in records if one.episode_return is not None]
    return {
        "count": len(records),
        "return": _mean(returns),
        "turns": _mean([float(one.turns) for one in records]),
        "faulted": len(records) - len(returns),
        "malformed": sum(play.malformed for play in plays),
        "cut": sum(play.cut for play in plays),
    }


def _settle(store: Store, step: Plan, records: Sequence[PlayRecord]) -> None:
    """Note the standing of replayed environments that these plays show to be off the frontier.

    Inside the band the plays say nothing new: without hinted ones there is no regret.
    """
    for one in step.environments:
        if one.shard != step.shard:
            standing = measure(one.id, step.parent, records, step.version)
            if standing.status in ("mastered", "hopeless"):
                store.upsert_standings([standing])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
