"""The record of a step that OpenRLHF took, in the words of ``solver.metrics``.

OpenRLHF counts both roles together, so what belongs to one role is counted here from the samples, and what
only the trainer knows stands beside, under ``openrlhf``, as it was logged.
"""

from collections.abc import Mapping, Sequence

from solver.metrics import PlayMetrics, RoleMetrics, Seconds, StepMetrics, mean
from solver.openrlhf.run import Played
from solver.planning import Plan
from solver.samples import Batch

Logged = Mapping[str, float]


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
            play=logged.get("timing/generation", 0.0),
            forward=logged.get("timing/make_experience", 0.0),
            backward=logged.get("timing/ppo_train", 0.0),
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


def _role(batch: Batch, version: int, logged: Logged) -> RoleMetrics:
    samples = batch.samples
    paid: dict[str, set[float]] = {}
    for one in samples:
        paid.setdefault(one.baseline, set()).add(one.reward)
    live = [one for one in samples if len(paid[one.baseline]) > 1]
    tokens = [one.tokens for one in samples]
    lags = [version - one.version for one in samples]
    return RoleMetrics(
        samples=len(samples),
        trained=len(live),
        groups=len({one.group for one in samples}),
        groups_live=len({one.group for one in live}),
        groups_dropped=len(batch.dropped_groups),
        dropped=dict(sorted(batch.dropped.items())),
        reward=mean([one.reward for one in samples]),
        tokens=sum(tokens),
        length=mean(tokens),
        length_most=max(tokens, default=None),
        cut_share=mean([one.cut for one in samples]),
        lag=mean(lags),
        lag_most=max(lags, default=None),
        tokens_trained=sum(one.tokens for one in live),
        positions=sum(len(one.ids) for one in live),
        loss=None,
        grad_norm=logged.get("actor_grad_norm"),
        clip_low_share=None,
        clip_high_share=None,
        importance=None,
        importance_cut_share=None,
        kl_behaviour=None,
        entropy=None,
    )
