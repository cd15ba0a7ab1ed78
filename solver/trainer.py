"""One GRPO step for both roles on one shard: play, compare within groups, update, publish.

    shard r ──► designs (a group: one brief) ──────────────► reward - mean of the skill ─────┐
       │                                                                                     ├─► version r
       └──────► environments ─► plays (a group: one instance) ─► return - mean of the group ─┘

Plays are sampled by the parent version; designs were sampled when the shard was made, by it or an older
one. What that makes of their loss: ``_note_anchors`` and ``solver.loss``. The weights themselves, forward
and backward passes: ``solver.learner``. Everything else that happens in a step is on this page, in order.

The step is a function of the parent version, the shard and the settings: plays are sampled in
lockstep (see ``solver.engines.local``), so a step that was killed and is done again gives the same
bytes, unless in one of the two an environment runs into a time limit or a batch is cut because a
play dawdled longer than ``policy.patience_s``.

Axis letters: S samples of a role, N sampled tokens of a sample.
"""

import asyncio
import math
import random
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from memory import PlayRecord, Store, record_id
from sandbox import Pool
from solver.advantages import centred, scaled
from solver.config import PolicyConfig, SolverConfig, TrainConfig
from solver.episodes import Play, play_many
from solver.learner import Item, Learner, Share, Tally
from solver.loss import divisor, pull
from solver.metrics import PlayMetrics, RoleMetrics, Seconds, StepMetrics, mean, of_samples
from solver.planning import Plan, observed, plan, write_curriculum
from solver.policy import Policy, require_tokens
from solver.samples import ROLES, TEXT_ONLY, TRUNCATED, Batch, Role, from_plays
from solver.versions import CURRICULUM, INFO, OPTIMISER, PolicyInfo, Versions
from spadekit.errors import BadInput, OurFault
from spadekit.seeds import derive
from spadekit.settings import Settings

Batches = Mapping[Role, Batch]
Parts = list[list[Item]]
"""What one role trains on, one part for each of its optimiser steps."""


@dataclass(frozen=True)
class StepResult:
    """What a step came to. ``trained`` is False when the version was there already."""

    version: int
    trained: bool
    metrics: Mapping[str, Any]
    """``solver.metrics.StepMetrics`` as JSON, as the version keeps it."""


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
    Raises ``BadInput`` for a shard or parent that is missing or damaged, for a policy that is text
    only and for a shard of which only text is left, ``SandboxFault`` when environments cannot be run.
    """
    require_tokens(policy, settings.section(SolverConfig))
    began = time.perf_counter()
    target = shard if version is None else version
    if versions.has(target):
        return StepResult(target, False, versions.read(target).metrics)
    config = settings.section(TrainConfig)
    step = plan(store, versions, config, shard, target)
    _require_tokens_in(step)
    parent = step.parent

    # 1. Play. The parent is loaded also when it serves already: key-value rows kept from other plays
    #    would change the last bits.
    await policy.load(versions.path(parent.version))
    forward = policy.forward_seconds
    plays = await play_many(policy, pool, step.jobs, settings.section(SolverConfig))
    forward = policy.forward_seconds - forward
    # All that decides a play: one step tried twice with other settings must not share ids.
    origin = (parent.weights, settings.digest)
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

    # 2. Learn, in a thread of its own: the event loop goes on.
    batches: Batches = {"solver": from_plays(records), "designer": step.designs}
    learner, roles = await asyncio.to_thread(_learn, versions, step, batches, settings)
    ended = time.perf_counter()

    # 3. Publish, what the plays say about the environments with it (the curriculum's state).
    metrics = StepMetrics(
        version=target,
        parent=parent.version,
        shard=shard,
        environments=len(step.environments),
        replayed=sum(one.shard != shard for one in step.environments),
        curriculum={"chosen": step.choice.counts(), "left_out": dict(step.choice.left_out)},
        plays=_play_metrics(plays),
        solver=roles["solver"],
        designer=roles["designer"],
        seconds=Seconds(
            play=played - began, forward=forward, backward=ended - played, total=ended - began
        ),
    ).as_json()
    info = PolicyInfo(target, parent.version, parent.step + 1, shard, settings.digest, {}, metrics)
    _publish(versions, info, learner, step, records)
    return StepResult(target, True, metrics)


def _require_tokens_in(step: Plan) -> None:
    """Refuse a shard that holds nothing but designs that no trainer can take."""
    if step.jobs or step.designs.samples:
        return
    for reason, why, mend in (
        (TEXT_ONLY, "their engine gave no token ids", "policy.engine local or vllm"),
        (TRUNCATED, "they were sampled with top_p or top_k", "designer.top_p = 1 and top_k = 0"),
    ):
        if count := step.designs.dropped[reason]:
            raise BadInput(
                f"nothing of shard {step.shard} can be trained on: {count} of its designs are {reason} "
                f"({why}) and no environment is left to play; generate with {mend}, or train on "
                "another shard"
            )


def _learn(
    versions: Versions, step: Plan, batches: Batches, settings: Settings
) -> tuple[Learner, dict[Role, RoleMetrics]]:
    """Update the parent's weights on the batches. Runs in a thread."""
    config = settings.section(TrainConfig)
    torch.set_num_threads(config.threads)
    rates = {"solver": config.solver_rate, "designer": config.designer_rate}
    if config.optimiser == "shared":
        rates = {"shared": config.solver_rate}
    start, parent = versions.path(0), versions.path(step.parent.version)
    learner = Learner(parent, rates, config, base=start, policy=settings.section(PolicyConfig))
    for role, batch in batches.items():
        largest = max((max(sample.ids) for sample in batch.samples), default=0)
        if largest >= learner.vocabulary:
            raise BadInput(
                f"a sample of the {role} in shard {step.shard} has the token id {largest}, but the "
                f"model has {learner.vocabulary}; train the model that made the shard"
            )
    try:
        return learner, learn(learner, batches, step.parent.version, start)
    except ValueError as error:
        raise OurFault(
            f"the update from version {step.parent.version} on shard {step.shard} was given up: "
            f"{error}; nothing was published. Lower train.solver_rate and train.designer_rate"
        ) from error


def learn(learner: Learner, batches: Batches, version: int, start: Path) -> dict[Role, RoleMetrics]:
    """Take all optimiser steps of one training step; return the metrics of both roles.

    Both roles move the same weights. By default each has its own steps and Adam state, the solver's
    first: in one shared step the designer's long samples take over the update; measured over twenty
    rounds, the share of valid designs fell from 0.70 to 0.48. Shared: as many steps as the solver's,
    each on a part of both roles.

    ``version`` is the policy version of the learner's weights, ``start`` the folder of the policy
    that the KL term refers to.
    """
    config = learner.config
    parts = {role: _parts(role, batches[role], config, version) for role in ROLES}
    if config.kl:
        items = [item for role in ROLES for part in parts[role] for item in part]
        _note_references(learner.other(start), items)
    updates: tuple[tuple[str, tuple[Role, ...]], ...] = (
        (("shared", ROLES),)
        if config.optimiser == "shared"
        else (("solver", ("solver",)), ("designer", ("designer",)))
    )
    taken: dict[Role, list[tuple[Tally, float]]] = {role: [] for role in ROLES}
    for optimiser, roles in updates:
        for role in roles:
            # The solver's update comes first: the weights are still those that its plays were drawn by.
            drawn = role == "solver" and recorded_is_computed(learner.policy)
            _note_anchors(learner, parts[role], recorded=drawn)
        for number in range(max(len(parts[role]) for role in roles)):
            shares = [_share(role, parts[role], number, batches, config) for role in roles]
            tallies, norm = learner.step(optimiser, shares)
            for role, tally in zip(roles, tallies, strict=True):
                taken[role].append((tally, norm))
    return {role: _role_metrics(batches[role], parts[role], taken[role], version) for role in ROLES}


def recorded_is_computed(policy: PolicyConfig) -> bool:
    """Whether the log-probabilities recorded at sampling are those that the trainer computes.

    To rounding they are where both run the same code in float32 (measured: within 1e-4). Another engine,
    or bfloat16, makes others of the same weights: an anchor of theirs would spend the clip range on that
    difference, and set the importance weight that corrects for it to exactly 1.
    """
    return policy.engine == "local" and policy.dtype == "float32"


def _parts(role: Role, batch: Batch, config: TrainConfig, version: int) -> Parts:
    """Give every sample its advantage and cut the role's samples, shuffled, into its parts."""
    advantages_S = centred(
        [one.reward for one in batch.samples],
        [one.baseline for one in batch.samples],
        [one.share for one in batch.samples],
    )
    if config.advantages == "scaled":
        advantages_S = scaled(advantages_S, [one.share for one in batch.samples])
    items = [Item(*pair) for pair in zip(batch.samples, advantages_S, strict=True)]
    random.Random(derive(config.seed, "order", version, role)).shuffle(items)
    alone = role == "designer" and config.optimiser == "separate"
    updates = config.designer_updates if alone else config.solver_updates
    count = min(updates, len(items))
    return [items[number::count] for number in range(count)]


def _note_anchors(learner: Learner, parts: Parts, *, recorded: bool) -> None:
    """Note the policy to which the ratios of an update are clipped: the learner's, as it begins.

    Four policies have a log-probability of each sampled token: the one that sampled it (*behaviour*,
    recorded), the one being trained, the *anchor*, and that of the KL term (*reference*, version 0).
    Importance weights lead from behaviour to anchor, clipped ratios from anchor to what is trained.
    Where the anchor's come from:

        what is trained on                             first part        later parts
        the step's own plays, ``recorded``             the step itself   as recorded at sampling
        the step's own plays, otherwise                the step itself   computed here
        designs (made earlier, by whatever engine)     the step itself   computed here

    The first part is trained while the weights still are the anchor: what the step computes is it.
    ``recorded``: see ``recorded_is_computed``.
    """
    later = [item for part in parts[1:] for item in part if item.advantage]
    if recorded:
        found = [item.behaviour_N for item in later]
    else:
        found = learner.logprobs([item.sample for item in later])
    for item, anchor_N in zip(later, found, strict=True):
        item.anchor_N = anchor_N


def _note_references(reference: Learner, items: Sequence[Item]) -> None:
    """Note the log-probabilities that the KL term pulls towards."""
    found = reference.logprobs([item.sample for item in items])
    for item, logp_N in zip(items, found, strict=True):
        item.reference_N = logp_N


def _share(role: Role, parts: Parts, number: int, batches: Batches, config: TrainConfig) -> Share:
    """What a role brings to step ``number``: nothing where it has fewer parts.

    Its divisor counts its own samples only, so that both roles pull equally however many each has.
    """
    items = parts[number] if number < len(parts) else []
    below = divisor(
        config.aggregation,
        tokens=sum(item.sample.tokens for item in items),
        episodes=math.fsum(item.sample.share for item in items),
        length=config.dr_grpo_tokens,
    )
    if role == "solver":
        return Share(items, config.solver_weight, below)
    designs, plays = batches["designer"].episodes, batches["solver"].episodes
    return Share(items, pull(config.designer_weight, designs, plays), below)


def _publish(
    versions: Versions,
    info: PolicyInfo,
    learner: Learner,
    step: Plan,
    records: Sequence[PlayRecord],
) -> None:
    """Publish the learner's and the curriculum's state; tokenizer files and the like are the parent's."""
    parent = versions.path(step.parent.version)

    def write(folder: Path) -> None:
        for entry in sorted(parent.iterdir()):
            # Weights under any name: servers load every file of weights that they find.
            weights = entry.name.startswith("model") or entry.suffix in (".safetensors", ".bin")
            own = weights or entry.name in (INFO, OPTIMISER, CURRICULUM)
            if not own:
                shutil.copyfile(entry, folder / entry.name)
        learner.save(folder)
        write_curriculum(folder, step.choice, observed(step, records))

    versions.publish(info, write)


def _play_metrics(plays: Sequence[Play]) -> PlayMetrics:
    return PlayMetrics(
        count=len(plays),
        faulted=sum(play.episode_return is None for play in plays),
        turns=mean([play.turns for play in plays]),
        malformed=sum(play.malformed for play in plays),
        cut=sum(play.cut for play in plays),
    )


def _role_metrics(
    batch: Batch, parts: Parts, taken: Sequence[tuple[Tally, float]], version: int
) -> RoleMetrics:
    tallies = [tally for tally, _ in taken]
    trained = sum(tally.tokens for tally in tallies)

    def per_token(name: str) -> float | None:
        return sum(getattr(tally, name) for tally in tallies) / trained if trained else None

    return replace(
        of_samples(batch, version),
        trained=sum(bool(item.advantage) for part in parts for item in part),
        tokens_trained=trained,
        positions=sum(tally.positions for tally in tallies),
        loss=mean([tally.loss for tally in tallies]),
        grad_norm=mean([norm for _, norm in taken]),
        clip_low_share=per_token("clip_low"),
        clip_high_share=per_token("clip_high"),
        importance=per_token("importance"),
        importance_cut_share=per_token("importance_cut"),
        kl_behaviour=per_token("kl_behaviour"),
        entropy=per_token("entropy"),
    )
