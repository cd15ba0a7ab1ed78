"""A planned step, cut into rows of one size for both roles.

OpenRLHF samples every row of its data set the same number of times and takes the mean of a row's rewards
off each (``dr_grpo``). Designs are compared with those of their skill, however many there are, plays
fault, a play can be several sequences, and some rows stay empty. So the comparison is done here: every
sample arrives with its reward already centred, as on one machine (``solver.advantages.centred``), and what
is compared stands in one row. The mean of a row is then zero, a padding sample has the reward zero, and
neither changes anything.

One optimiser takes both roles, and the loss is one mean over all tokens of a rollout. The roles' rewards
are therefore scaled, in each rollout, so that it equals the sum of their own means (``balance``), as
``train.optimiser = "shared"`` has it on one machine. The estimator is linear in the scale; one that divides
by the deviation would undo it, and would make advantages of rounding errors where all rewards of a row are
equal.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from memory import PlayRecord
from solver.advantages import centred
from solver.config import TrainConfig
from solver.episodes import Job
from solver.loss import pull
from solver.openrlhf.layout import Layout
from solver.samples import Batch, Sample
from spadekit.errors import BadInput


@dataclass(frozen=True)
class Shown:
    """One sample as OpenRLHF gets it, but for the scale. ``mask`` is 1 on sampled ids."""

    ids: tuple[int, ...]
    mask: tuple[int, ...]
    logprobs: tuple[float, ...]
    advantage: float
    score: float
    """What was earned, before its baseline was taken off."""
    cut: bool = False


@dataclass(frozen=True)
class Row:
    """What one row stands for in one rollout: plays to make, designs to show, or nothing.

    ``scale`` is what advantages are multiplied by. ``version`` (of the policy) is the plays'; ``origin``
    tells their records apart from those of other steps.
    """

    jobs: tuple[Job, ...] = ()
    designs: tuple[Shown, ...] = ()
    scale: float = 1.0
    version: int = 0
    origin: tuple[str, ...] = ()

    def dump(self) -> str:
        """Return the row as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> "Row":
        """Read what ``dump`` gave."""
        told: dict[str, Any] = json.loads(text)
        return cls(
            jobs=tuple(Job(**job) for job in told.pop("jobs")),
            designs=tuple(
                Shown(**{key: _tuple(value) for key, value in one.items()})
                for one in told.pop("designs")
            ),
            **{key: _tuple(value) for key, value in told.items()},
        )


def pulls(plays: int, designs: Batch, train: TrainConfig) -> tuple[float, float]:
    """Return the weights of the losses of the solver and the designer in a step (``solver.loss.pull``)."""
    return train.solver_weight, pull(train.designer_weight, designs.episodes, plays)


def balance(
    rows: Sequence[Row], layout: Layout, each: float, behind: float, pulls: tuple[float, float]
) -> list[Row]:
    """Return the rows of one rollout with their scales.

    The mean over all its tokens, so scaled, is the sum of both roles' losses, each divided by its own
    tokens. ``each``: the sampled tokens that a play is expected to have; a sample of padding has one.
    ``behind``: how many tokens of designs, those that are not shown included, are behind one that is.
    """
    plays = sum(len(row.jobs) for row in rows) * each
    shown = sum(sum(one.mask) for row in rows for one in row.designs)
    padding = sum(layout.row - len(row.designs) for row in rows if not row.jobs)
    total = plays + shown + padding
    scales = (
        pulls[0] * total / plays if plays else 0.0,
        pulls[1] * total / (shown * behind) if shown else 0.0,
    )
    return [replace(row, scale=scales[bool(row.designs)]) for row in rows]


def tokens_of_a_play(plays: Iterable[PlayRecord], otherwise: float) -> float:
    """Return the mean number of sampled tokens of unhinted plays, to foresee those to be made."""
    counts = [sum(play.mask) for play in plays if play.arm == "unhinted" and not play.fault]
    return sum(counts) / len(counts) if sum(counts) else otherwise


def deal_plays(jobs: Sequence[Job], size: int, rollouts: int, like: Row) -> list[list[Row]]:
    """Deal the groups of plays to rollouts: a list of rows for each, otherwise like ``like``.

    Groups stand together in ``jobs``, each of ``size`` plays.
    """
    groups = [tuple(jobs[at : at + size]) for at in range(0, len(jobs), size)]
    rows = [replace(like, jobs=group) for group in groups]
    return [rows[number::rollouts] for number in range(rollouts)]


def compared(samples: Sequence[Sample], size: int) -> list[list[tuple[Sample, float]]]:
    """Return designs with their advantages (not scaled), those that are compared together.

    Together are those of one baseline; more than ``size``, a row, are dealt to as many parts as it takes,
    each compared within itself.
    """
    together: dict[str, list[Sample]] = {}
    for one in samples:
        together.setdefault(one.baseline, []).append(one)
    parts = []
    for group in together.values():
        count = -(-len(group) // size)
        for part in (group[number::count] for number in range(count)):
            advantages = centred([one.reward for one in part], [one.baseline for one in part])
            parts.append(list(zip(part, advantages, strict=True)))
    return parts


def worth_showing(
    parts: Sequence[Sequence[tuple[Sample, float]]], kl: float
) -> list[list[tuple[Sample, float]]]:
    """Leave out designs whose advantage is zero: OpenRLHF would take them through the model for nothing.

    With a KL term it is not for nothing.
    """
    found = [[(one, advantage) for one, advantage in part if advantage or kl] for part in parts]
    return [part for part in found if part]


def deal_designs(
    parts: Sequence[Sequence[tuple[Sample, float]]], layout: Layout, rollouts: int
) -> list[list[Row]]:
    """Deal designs to rollouts and pack them into rows, the largest parts first and each in one row.

    Returns a list of rows for each rollout. Raises ``BadInput`` when they do not hold them.
    """
    ordered = sorted(parts, key=len, reverse=True)
    dealt = []
    for number in range(rollouts):
        packed: list[list[Shown]] = []
        for part in ordered[number::rollouts]:
            row = next((row for row in packed if len(row) + len(part) <= layout.row), None)
            if row is None:
                packed.append(row := [])
            row += [
                Shown(one.ids, one.mask, one.logprobs, advantage, one.reward, one.cut)
                for one, advantage in part
            ]
        if len(packed) > layout.design_rows:
            raise BadInput(
                f"{sum(map(len, parts))} designs to train on need {len(packed)} rows of a rollout, "
                f"but cluster.design_rows = {layout.design_rows}; raise it"
            )
        dealt.append([Row(designs=tuple(row)) for row in packed])
    return dealt


def fill(plays: Sequence[Row], designs: Sequence[Row], layout: Layout) -> list[Row]:
    """Return all rows of one rollout, empty ones where there is less to do than the layout holds."""
    empty = Row()
    return [
        *plays,
        *[empty] * (layout.play_rows - len(plays)),
        *designs,
        *[empty] * (layout.design_rows - len(designs)),
    ]


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
