"""One GRPO step for both roles on one shard: play, compare within groups, update, publish.

    shard r ──► designs (groups by brief, reward from the probe) ───────────────┐
       │                                                                        ├─► version r
       └──────► environments ─► plays (groups by instance, reward = return) ────┘

The step is a function of the parent version, the shard and the settings: plays are sampled in
lockstep (see ``solver.engines.local``), so a step that was killed and is done again gives the same
bytes, unless in one of the two an environment runs into a time limit or a batch is cut because a
play dawdled longer than ``policy.patience_s``.
"""

import asyncio
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from memory import PlayRecord, Store, measure, record_id
from sandbox import Pool
from solver.config import SolverConfig, TrainConfig
from solver.episodes import Play, play_many
from solver.learner import Learner
from solver.planning import Plan, observed, plan, write_curriculum
from solver.policy import Policy, require_tokens
from solver.samples import Batch, Role, from_plays
from solver.update import Metrics, learn, mean
from solver.versions import CURRICULUM, INFO, OPTIMISER, PolicyInfo, Versions
from spadekit.errors import BadInput, OurFault
from spadekit.settings import Settings


@dataclass(frozen=True)
class StepResult:
    """What a step came to. ``trained`` is False when the version was there already."""

    version: int
    trained: bool
    metrics: Metrics


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
    Raises ``BadInput`` for a shard or parent that is missing or damaged and for a policy that is text
    only, ``SandboxFault`` when environments cannot be run.
    """
    require_tokens(policy)
    began = time.perf_counter()
    target = shard if version is None else version
    if versions.has(target):
        return StepResult(target, False, dict(versions.read(target).metrics))
    config, playing = settings.section(TrainConfig), settings.section(SolverConfig)
    step = plan(store, versions, config, shard, target)
    # Also when the parent serves already: rows kept from other plays would change the last bits.
    await policy.load(versions.path(step.parent.version))

    forward = policy.forward_seconds
    plays = await play_many(policy, pool, step.jobs, playing)
    # All that decides a play: one step tried twice with other settings must not share ids.
    origin = (step.parent.weights, settings.digest)
    records = [
        play.record(
            id=record_id("train", *origin, job.environment, job.seed, job.sample_seed),
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
        "parent": step.parent.version,
        "shard": shard,
        "environments": len(step.environments),
        "replayed": sum(one.shard != shard for one in step.environments),
        "curriculum": {"chosen": step.choice.counts(), "left_out": dict(step.choice.left_out)},
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
    # Before the version is there: a step found done is never looked at again.
    _settle(store, step, records)
    parent = step.parent
    info = PolicyInfo(target, parent.version, parent.step + 1, shard, settings.digest, {}, figures)
    _publish(versions, info, learner, step, records)
    return StepResult(target, True, figures)


def _learn(
    versions: Versions, step: Plan, batches: dict[Role, Batch], config: TrainConfig
) -> tuple[Learner, Metrics]:
    """Update the parent's weights on the batches. Runs in a thread."""
    torch.set_num_threads(config.threads)
    rates = {"solver": config.solver_rate, "designer": config.designer_rate}
    if config.optimiser == "shared":
        rates = {"shared": config.solver_rate}
    learner = Learner(versions.path(step.parent.version), rates, config)
    for role, batch in batches.items():
        largest = max((max(sample.ids) for sample in batch.samples), default=0)
        if largest >= learner.vocabulary:
            raise BadInput(
                f"a sample of the {role} in shard {step.shard} has the token id {largest}, but the "
                f"model has {learner.vocabulary}; train the model that made the shard"
            )
    try:
        return learner, learn(learner, batches, config, step.parent.version, versions.path(0))
    except ValueError as error:
        raise OurFault(
            f"the update from version {step.parent.version} on shard {step.shard} was given up: "
            f"{error}; nothing was published. Lower train.solver_rate and train.designer_rate"
        ) from error


def _publish(
    versions: Versions,
    info: PolicyInfo,
    learner: Learner,
    step: Plan,
    records: Sequence[PlayRecord],
) -> None:
    """Publish the learner's and the curriculum's state; tokenizer files and the like are the parent's."""
    assert info.parent is not None
    parent = versions.path(info.parent)

    def write(folder: Path) -> None:
        for entry in sorted(parent.iterdir()):
            own = entry.name.startswith("model") or entry.name in (INFO, OPTIMISER, CURRICULUM)
            if not own:
                shutil.copyfile(entry, folder / entry.name)
        learner.save(folder)
        write_curriculum(folder, step.choice, observed(step, records))

    versions.publish(info, write)


def _describe(records: Sequence[PlayRecord], plays: Sequence[Play]) -> Metrics:
    """Figures of the plays: whose fault it was when something went wrong is kept apart."""
    returns = [one.episode_return for one in records if one.episode_return is not None]
    return {
        "count": len(records),
        "return": mean(returns),
        "turns": mean([float(one.turns) for one in records]),
        "faulted": len(records) - len(returns),
        "malformed": sum(play.malformed for play in plays),
        "cut": sum(play.cut for play in plays),
    }


def _settle(store: Store, step: Plan, records: Sequence[PlayRecord]) -> None:
    """Note the standing of environments that these plays show to be off the frontier.

    Inside the band they say nothing new: without hinted ones there is no regret. The unhinted plays
    that chose an environment for the frontier do not count beside fresh ones: they were lucky.
    """
    parent = step.parent.version
    before = store.latest_standings(parent)
    found = []
    for one in step.environments:
        if measure(one.id, parent, records, 0).status in ("mastered", "hopeless"):
            hinted = [play for play in store.plays(one.id) if play.arm == "hinted"]
            updated = max(step.version, before[one.id].updated + 1 if one.id in before else 0)
            found.append(measure(one.id, parent, [*records, *hinted], updated))
    store.upsert_standings(found)
