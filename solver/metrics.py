"""What a training step is measured by: the record kept in the ``policy.json`` of its version.

``StepMetrics`` is written as nested JSON under the names of its fields, which are those of the curves
and of the report. None is what could not be measured: there was nothing to measure it on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from solver.advantages import weighted_mean
from solver.samples import Batch


@dataclass(frozen=True, kw_only=True)
class RoleMetrics:
    """One role in one step. Means and shares of tokens are over those of samples with an advantage."""

    samples: int
    """Samples kept; those left out are in ``dropped``."""
    trained: int
    """Samples with an advantage; the others cost no time, unless a KL term (``train.kl``) trains them."""
    groups: int
    groups_live: int
    """Groups with an advantage: what they are compared with was not all paid the same."""
    groups_dropped: int
    """Groups that lost every sample."""
    dropped: Mapping[str, int]
    """Samples left out, by reason: an environment's fault, `duplicate`, `too old`, ..."""
    reward: float | None
    """Mean over the samples kept; a solver's reward is the return."""
    tokens: int
    """Sampled tokens of the samples kept."""
    length: float | None
    length_most: int | None
    """Sampled tokens of a sample: mean and most."""
    cut_share: float | None
    """Share of samples with a reply cut at its limit, or that ran out of context."""
    lag: float | None
    lag_most: int | None
    """Policy versions between the sampling of a sample and its training: mean and most."""
    tokens_trained: int
    """Sampled tokens of the samples with an advantage."""
    positions: int
    """Positions that went through the model, prompts and padding included: of the samples with an
    advantage, with a KL term of all."""
    loss: float | None
    grad_norm: float | None
    """Means over optimiser steps; the norm is from before clipping, and of both roles in a shared step."""
    clip_low_share: float | None
    clip_high_share: float | None
    """Share of tokens without a gradient because their ratio left the bounds, below and above."""
    importance: float | None
    """Mean truncated importance weight; 1 where the weights trained are those that sampled."""
    importance_cut_share: float | None
    """Share of tokens whose importance weight was truncated."""
    kl_behaviour: float | None
    """Nats a token from the policy that sampled to the one trained: mean of log b - log p."""
    entropy: float | None
    """Nats a token of the policy being trained, over its whole vocabulary."""


@dataclass(frozen=True, kw_only=True)
class PlayMetrics:
    """The episodes of a step. Whose fault it was when something went wrong is kept apart."""

    count: int
    faulted: int
    """Plays that an environment broke: neither won nor lost, left out."""
    turns: float | None
    malformed: int
    """Replies of the policy whose tool calls could not be read, or whose action was over-long."""
    cut: int
    """Replies of the policy cut at their token limit."""


@dataclass(frozen=True, kw_only=True)
class Seconds:
    """Where the time of a step went; ``forward`` is the part of ``play`` that the policy took."""

    play: float | None
    forward: float | None
    backward: float | None
    total: float


@dataclass(frozen=True, kw_only=True)
class StepMetrics:
    """One training step."""

    version: int
    parent: int
    shard: int
    environments: int
    replayed: int
    """Environments of older shards among them."""
    curriculum: Mapping[str, Any]
    """Environments played and left out, by reason (``solver.curriculum``)."""
    plays: PlayMetrics
    solver: RoleMetrics
    designer: RoleMetrics
    seconds: Seconds

    def as_json(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return asdict(self)


def of_samples(batch: Batch, version: int) -> RoleMetrics:
    """Return what a role's samples say by themselves; what only the trainer knows is None.

    ``version``: the policy version trained. Samples count as trained that have an advantage.
    """
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
        reward=weighted_mean([(one.reward, one.share) for one in samples]) if samples else None,
        tokens=sum(tokens),
        length=mean(tokens),
        length_most=max(tokens, default=None),
        cut_share=mean([one.cut for one in samples]),
        lag=mean(lags),
        lag_most=max(lags, default=None),
        tokens_trained=sum(one.tokens for one in live),
        positions=sum(len(one.ids) for one in live),
        loss=None,
        grad_norm=None,
        clip_low_share=None,
        clip_high_share=None,
        importance=None,
        importance_cut_share=None,
        kl_behaviour=None,
        entropy=None,
    )


def left_out(metrics: Mapping[str, Any]) -> str:
    """Say in one line what a step left out and why; empty when it left out nothing."""
    parts = [
        f"{role}: " + ", ".join(f"{number} {reason}" for reason, number in dropped.items())
        for role in ("solver", "designer")
        if (dropped := metrics[role]["dropped"])
    ]
    return f"left out of training: {'; '.join(parts)}" if parts else ""


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(values) / len(values) if values else None
