"""The charts of a run's report."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from bench.charts import Point, Series, lines, stacked
from bench.figures import RoundFigures, RunFigures, TrainingFigures, outside
from bench.statistics import Estimate

SHARE = (0.0, 1.0)
Steps = Mapping[int | None, TrainingFigures]
"""Training steps by the shard they were made on."""

TRAINING = (
    ("reward", "Mean reward of the samples", ""),
    ("groups_live", "Groups with an advantage", "Groups whose samples were not all paid the same."),
    ("loss", "Loss", ""),
    ("grad_norm", "Gradient norm", "Before clipping."),
    ("clip_share", "Share of tokens clipped", ""),
    ("importance", "Importance weight", "Truncated; 1 for samples of the very weights trained."),
    ("kl_behaviour", "KL to the policy that sampled", ""),
)
"""Training metrics of each role: name, title and note of their charts."""


def charts_of(figures: RunFigures, training: Steps) -> dict[str, Markup]:
    """Return every chart by its name in the page; training metrics come as one row of charts."""
    rounds = figures.rounds
    heldout = figures.heldout
    return {
        "heldout": lines(
            "Held-out return",
            [
                _estimates("training temperature", [(one.version, one.sampled) for one in heldout]),
                _estimates("greedy", [(one.version, one.greedy) for one in heldout]),
            ],
            x_label="policy version",
            y_range=SHARE,
        ),
        "change": lines(
            "Change of held-out return since the first version, paired",
            [
                _estimates(
                    "training temperature",
                    [(one.version, one.change_sampled) for one in heldout[1:]],
                ),
                _estimates("greedy", [(one.version, one.change_greedy) for one in heldout[1:]]),
            ],
            x_label="policy version",
            note="An interval that holds 0 shows no change.",
        ),
        "validity": lines(
            "Share of designs",
            [
                _values("valid", [(one.round, one.valid) for one in rounds]),
                _values("admitted", [(one.round, _part(one)) for one in rounds]),
                _values(
                    "learnable (of the admitted)", [(one.round, one.learnable) for one in rounds]
                ),
            ],
            y_range=SHARE,
            x_label="round",
        ),
        "returns": lines(
            "Return on the round's own environments",
            [
                _estimates("unhinted", [(one.round, one.return_unhinted) for one in rounds]),
                _estimates("hinted", [(one.round, one.return_hinted) for one in rounds]),
            ],
            y_range=SHARE,
            x_label="round",
        ),
        "regret": lines(
            "Regret",
            [_estimates("regret", [(one.round, one.regret) for one in rounds])],
            x_label="round",
        ),
        "reward": lines(
            "Designer's reward",
            [_values("mean over designs", [(one.round, one.designer_reward) for one in rounds])],
            note="Invalid designs count with 0.",
            x_label="round",
        ),
        "diversity": lines(
            "Diversity: Vendi score / n",
            [_values("Vendi score / n", [(one.round, one.vendi_share) for one in rounds])],
            y_range=SHARE,
            note="1: all of a round's environments mean different things; 1 / n: all the same.",
            x_label="round",
        ),
        "training": _training_charts(figures.training),
        "time": stacked(
            "Seconds of a round",
            [one.round for one in rounds],
            stage_seconds(rounds, training),
            unit="s",
            note="Stages overlap: each part runs from the end of the one before to its own end.",
            x_label="round",
        ),
        "outside": lines(
            "Share of time outside the policy's forward and backward passes",
            [
                _values(
                    "outside",
                    [(one.round, outside(one, training.get(one.round))) for one in rounds],
                )
            ],
            y_range=SHARE,
            note="Inside: sampling, and the whole of the updates with their optimiser steps.",
            x_label="round",
        ),
    }


def stage_seconds(rounds: Sequence[RoundFigures], training: Steps) -> dict[str, list[float]]:
    """Return seconds per stage and round.

    Rounds record when each stage ended, counted from the round's start; stages that overlap become
    parts that add up to the round's time.
    """
    parts: dict[str, list[float]] = {}
    for one in rounds:
        reached = 0.0
        for stage in ("design", "certify", "probe", "total"):
            end = max(reached, one.seconds.get(stage, reached))
            parts.setdefault("publish" if stage == "total" else stage, []).append(end - reached)
            reached = end
        step = training.get(one.round)
        plays = step.metrics.get("seconds.play", 0.0) if step else 0.0
        parts.setdefault("training plays", []).append(plays)
        parts.setdefault("updates", []).append(max(0.0, training_seconds(step) - plays))
    return parts


def _training_charts(training: Sequence[TrainingFigures]) -> Markup:
    """One chart per metric that tells whether training is healthy, a line per role."""
    return Markup("").join(
        lines(
            title,
            [
                _values(
                    role, [(one.version, one.metrics.get(f"{role}.{name}")) for one in training]
                )
                for role in ("solver", "designer")
            ],
            x_label="policy version",
            note=note,
        )
        for name, title, note in TRAINING
    )


def _estimates(name: str, values: Sequence[tuple[int, Estimate]]) -> Series:
    return Series(name, tuple(Point(x, one.mean, one.low, one.high) for x, one in values))


def _values(name: str, values: Sequence[tuple[int, float | None]]) -> Series:
    return Series(name, tuple(Point(x, value) for x, value in values))


def _part(one: RoundFigures) -> float | None:
    return one.admitted / one.designs if one.designs else None


def round_seconds(one: RoundFigures, step: TrainingFigures | None) -> float:
    return one.seconds.get("total", 0.0) + training_seconds(step)


def training_seconds(step: TrainingFigures | None) -> float:
    return step.metrics.get("seconds.total", 0.0) if step else 0.0
