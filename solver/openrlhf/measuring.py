"""The record of a step that OpenRLHF took, in the words of ``solver.metrics``.

OpenRLHF counts both roles together, so what belongs to one role is counted here from the samples, and what
only the trainer knows stands beside, under ``openrlhf``, as it was logged.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memory import PlayRecord
from solver.metrics import PlayMetrics, RoleMetrics, Seconds, StepMetrics, mean, of_samples
from solver.openrlhf.run import Played
from solver.planning import Plan
from solver.samples import Batch, from_plays

Logged = Mapping[str, float]
NOT_PLAYED = "not played"
"""Why plays of a group that a fault of ours took away are left out."""


def step_metrics(
    step: Plan, played: Sequence[Played], solver: Batch, logged: Logged, seconds: float
) -> dict[str, object]:
    """Return what ``policy.json`` keeps of a step."""
    records = [record for one in played for record in one.plays]
    record = StepMetrics(
        version=step.version,
        parent=step.parent.version,
        shard=step.shard,
        environments=len(step.environments),
        replayed=sum(one.shard != step.shard for one in step.environments),
        curriculum={"chosen": step.choice.counts(), "left_out": dict(step.choice.left_out)},
        plays=PlayMetrics(
            count=len(records),
            faulted=sum(one.episode_return is None for one in records),
            turns=mean([one.turns for one in records]),
            malformed=sum(one.malformed for one in played),
            cut=sum(one.cut for one in played),
        ),
        solver=_role(solver, step.parent.version, logged),
        designer=_role(step.designs, step.parent.version, logged),
        seconds=Seconds(
            play=logged.get("timing/generation"),
            forward=logged.get("timing/make_experience"),
            backward=logged.get("timing/ppo_train"),
            total=seconds,
        ),
    )
    return record.as_json() | {"openrlhf": dict(logged)}


def together(figures: Sequence[Logged]) -> dict[str, float]:
    """Return the figures of several rollouts as one: times are sums, the rest means."""
    names = [name for one in figures for name in one]
    found = {}
    for name in dict.fromkeys(names):
        values = [one[name] for one in figures if name in one]
        found[name] = sum(values) if name.startswith("timing/") else sum(values) / len(values)
    return found


def of_plays(step: Plan, plays: Sequence[PlayRecord]) -> Batch:
    """Return a step's plays as samples; those of groups that our faults took away are left out, counted."""
    batch = from_plays(plays)
    played = {(one.environment, one.seed) for one in plays}
    lost = [one for one in step.jobs if (one.environment, one.seed) not in played]
    groups = dict.fromkeys(f"{one.environment}/{one.seed}" for one in lost)
    dropped = batch.dropped + Counter({NOT_PLAYED: len(lost)})
    return Batch(batch.samples, dropped, (*batch.dropped_groups, *groups))


def _role(batch: Batch, version: int, logged: Logged) -> RoleMetrics:
    return replace(of_samples(batch, version), grad_norm=logged.get("actor_grad_norm"))
