"""What the arms came to: pure functions from stored held-out results to the figures that are told.

Intervals are 95 % and clustered by environment. The seeds of an arm are few, so each seed is told by
itself; the figure over all seeds takes an environment's plays of every seed together, and says how
the environments vary, not how further seeds would.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from bench.heldout.results import DECODINGS, Decoding, Result, change
from bench.statistics import Estimate, clustered_mean, paired_difference


@dataclass(frozen=True)
class Trained:
    """One arm and seed: its held-out results by policy version, and what the rounds were like."""

    arm: str
    seed: int
    rounds: int
    results: tuple[Result, ...]
    health: "Health"
    budget: "Budget"
    others: tuple[Result, ...] = ()
    """The first and the last version on what all arms designed late; empty where it was not played."""
    left_out: int = 0
    """Environments of the held-out set that do not count, because an arm designed them too."""

    @property
    def start(self) -> Result:
        """The starting policy."""
        return self.results[0]

    @property
    def end(self) -> Result:
        """The last version. Never the best one: choosing afterwards would flatter an arm."""
        return self.results[-1]


@dataclass(frozen=True)
class Health:
    """The designer's first and last quarter of rounds; None where an arm designed nothing then.

    Shares of 1: ``valid`` of the designs, ``new`` (admitted) of the valid, ``learnable`` of the
    admitted, ``vendi`` (score / n). Means: the designer's ``reward``, and the ``regret`` of the admitted.
    """

    valid: tuple[float | None, float | None]
    new: tuple[float | None, float | None]
    learnable: tuple[float | None, float | None]
    vendi: tuple[float | None, float | None]
    reward: tuple[float | None, float | None]
    regret: tuple[float | None, float | None]


@dataclass(frozen=True)
class Budget:
    """What the solver was trained with, over all versions: plays, and those that had a gradient."""

    plays: int
    trained: int


@dataclass(frozen=True)
class Change:
    """Mean return of the first and of the last version, and the paired difference."""

    start: float | None
    end: float | None
    difference: float | None
    low: float | None
    high: float | None


def entry(one: Trained) -> dict[str, Any]:
    """Return the record of one arm and seed; ``plays``: held-out ones of a version, sampled."""
    changes: dict[str, Any] = {name: asdict(change_of(one, name)) for name in DECODINGS}
    return {
        "arm": one.arm,
        "seed": one.seed,
        "rounds": one.rounds,
        "plays": one.end.estimate("sampled").n,
        **changes,
        "health": asdict(one.health),
        "budget": asdict(one.budget),
    }


def change_of(one: Trained, decoding: Decoding) -> Change:
    """Return what training did to the return on the held-out set."""
    found = change(one.start, one.end, decoding)
    return Change(
        one.start.estimate(decoding).mean,
        one.end.estimate(decoding).mean,
        found.mean,
        found.low,
        found.high,
    )


def without(trained: Sequence[Trained], ids: Collection[str]) -> list[Trained]:
    """Return the same without the held-out environments ``ids``, for every arm alike."""
    return [
        replace(
            one,
            results=tuple(
                replace(
                    result,
                    environments=tuple(each for each in result.environments if each.id not in ids),
                )
                for result in one.results
            ),
            left_out=len(ids),
        )
        for one in trained
    ]


Cluster = Literal["id", "family"]
"""What an interval takes for one observation: an environment, or all of a family together."""


def together(
    several: Sequence[Result],
    decoding: Decoding,
    families: Collection[str] = (),
    by: Cluster = "id",
) -> dict[str, tuple[float, ...]]:
    """Return each environment's (or family's) returns of several results, one after another.

    Environments of ``families`` are left out.
    """
    joined: dict[str, tuple[float, ...]] = {}
    for result in several:
        for one in result.environments:
            if one.family not in families:
                key = getattr(one, by)
                joined[key] = joined.get(key, ()) + getattr(one, decoding)
    return joined


def gain(arm: Sequence[Trained], decoding: Decoding, by: Cluster = "id") -> Estimate:
    """Return the paired difference, last version minus first, over all seeds of an arm."""
    first, last = ([getattr(one, end) for one in arm] for end in ("start", "end"))
    return paired_difference(together(first, decoding, by=by), together(last, decoding, by=by))


def lead(
    arm: Sequence[Trained], other: Sequence[Trained], decoding: Decoding, by: Cluster = "id"
) -> Estimate:
    """Return how far one arm ends above another, paired by environment, over the seeds of both.

    Raises ``ValueError`` when the two were not run with the same seeds.
    """
    _check_seeds(arm, other)
    mine, theirs = ([one.end for one in which] for which in (arm, other))
    return paired_difference(together(theirs, decoding, by=by), together(mine, decoding, by=by))


Lead: TypeAlias = Callable[[Sequence[Trained], Sequence[Trained], Decoding], Estimate]
"""How far one arm ends above another: ``lead`` or ``lead_abroad``."""


def leads(
    arm: Sequence[Trained], other: Sequence[Trained], decoding: Decoding, of: Lead
) -> list[float]:
    """Return the lead (``of``) of each seed by itself, in the order of the seeds.

    The two must have the same seeds.
    """
    by_seed = {one.seed: one for one in other}
    found = [
        of([one], [by_seed[one.seed]], decoding).mean
        for one in sorted(arm, key=lambda one: one.seed)
    ]
    return [value for value in found if value is not None]


def abroad(arm: Sequence[Trained], decoding: Decoding) -> Estimate:
    """Return what training did on the other arms' late designs, over all seeds of an arm."""
    first, last = _ends(arm)
    own = {one.arm for one in arm}
    return paired_difference(together(first, decoding, own), together(last, decoding, own))


def lead_abroad(arm: Sequence[Trained], other: Sequence[Trained], decoding: Decoding) -> Estimate:
    """Return how far one arm ends above another on what neither of them designed.

    Raises ``ValueError`` when the two were not judged on it with the same seeds.
    """
    _check_seeds(_judged(arm), _judged(other))
    own = {one.arm for one in (*arm, *other)}
    return paired_difference(*(together(_ends(which)[1], decoding, own) for which in (other, arm)))


def _check_seeds(arm: Sequence[Trained], other: Sequence[Trained]) -> None:
    if sorted(one.seed for one in arm) != sorted(one.seed for one in other):
        raise ValueError("arms are compared seed by seed, but theirs differ")


def _judged(arm: Sequence[Trained]) -> list[Trained]:
    """Return the seeds of an arm that played what the arms designed late."""
    return [one for one in arm if one.others]


def _ends(arm: Sequence[Trained]) -> tuple[list[Result], list[Result]]:
    judged = [one.others for one in _judged(arm)]
    return [one[0] for one in judged], [one[-1] for one in judged]


def curve(arm: Sequence[Trained], decoding: Decoding) -> list[tuple[int, Estimate]]:
    """Return (version, mean return over all seeds) for the versions that every seed was judged at."""
    judged = [{result.version: result for result in one.results} for one in arm]
    common = sorted(set.intersection(*(set(one) for one in judged))) if judged else []
    return [
        (version, clustered_mean(together([one[version] for one in judged], decoding)))
        for version in common
    ]


def by_arm(trained: Sequence[Trained]) -> Mapping[str, list[Trained]]:
    """Return the arms in the order they come, each with its seeds."""
    arms: dict[str, list[Trained]] = {}
    for one in trained:
        arms.setdefault(one.arm, []).append(one)
    return arms
