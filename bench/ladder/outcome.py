"""What a ladder came to: pure functions from its plays to the figures that are told.

Ratings use every play. What is told without them (the table of returns, what was learned and forgotten)
uses the floor alone: the same instances for every version, chosen before anything was played.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.ladder.book import Key
from bench.ladder.field import Course, Field
from bench.ladder.ratings import Ratings, Span, Tally, chance, fit, places
from bench.statistics import Estimate, clustered_mean, paired_difference

Returns = Mapping[Key, float | None]
WIDE = 1.96


@dataclass(frozen=True)
class Rung:
    """A policy version: its rating in logits above the first one's, and its plays."""

    version: int
    trained_on: int | None
    rating: Span
    plays: int


@dataclass(frozen=True)
class Step:
    """A shard: its difficulty, how far that lies above its designer, and what became of it.

    ``ahead``: None where the designer's version does not take part. ``learned``: the version trained on
    it less that version's parent; ``kept``: the last version less the one trained on it; both paired by
    environment, without an interval or a mean where there is nothing to compare.
    """

    shard: int
    designer: int
    environments: int
    plays: int
    difficulty: Span
    ahead: Span | None
    learnable: Estimate
    learned: Estimate
    kept: Estimate


@dataclass(frozen=True)
class Outcome:
    """Everything that is told. Slopes are in logits a version or a shard.

    ``ahead``: the slope of the shards' lead over their designers; ``odd``: share of version-shard pairs
    whose floor the ratings miss by more than 1.96 standard errors (0.05 where one scale says it all).
    ``returns``: mean return of each version (row) on each shard (column).
    """

    rungs: tuple[Rung, ...]
    steps: tuple[Step, ...]
    spread: float
    versions: Span | None
    shards: Span | None
    ahead: Span | None
    learned: Estimate
    kept: Estimate
    odd: float
    returns: tuple[tuple[Estimate, ...], ...]
    plays: int
    faulted: int

    @property
    def verdict(self) -> str:
        """What the slopes say, in a sentence."""
        ways = [_way(self.versions), _way(self.shards)]
        if ways == ["rise", "rise"]:
            return "both rise together: versions get better, and their shards get harder"
        return f"it is not shown that both rise: versions {ways[0]}, shards {ways[1]}"


def outcome(
    field: Field, tallies: Sequence[Tally], returns: Returns, floor: Sequence[Key]
) -> Outcome:
    """Return the figures of a played ladder."""
    ratings = fit(tallies)
    even = _floor_returns(returns, floor)
    changes = [_changes(field, course, even) for course in field.courses]
    return Outcome(
        rungs=tuple(
            Rung(one.version, one.shard, ratings.rating(place), _plays(tallies, place))
            for place, one in enumerate(field.contestants)
        ),
        steps=tuple(
            _step(field, ratings, tallies[place], place, changes[place])
            for place in range(len(field.courses))
        ),
        spread=ratings.spread,
        versions=ratings.slope(shards=False),
        shards=ratings.slope(shards=True),
        ahead=_lead(field, ratings),
        learned=_together([learned for learned, _ in changes]),
        kept=_together([kept for _, kept in changes]),
        odd=_odd(ratings, tallies, field, even),
        returns=tuple(
            tuple(clustered_mean(_of(even, one.version, course)) for course in field.courses)
            for one in field.contestants
        ),
        plays=len(returns),
        faulted=sum(value is None for value in returns.values()),
    )


Paired = tuple[Mapping[str, Sequence[float]], Mapping[str, Sequence[float]]]
"""Returns before and after, by environment."""


def _floor_returns(returns: Returns, floor: Sequence[Key]) -> dict[tuple[int, str], list[float]]:
    """Return the floor's returns by version and environment."""
    found: dict[tuple[int, str], list[float]] = {}
    for key in floor:
        value = returns.get(key)
        if value is not None:
            found.setdefault((key.version, key.environment), []).append(value)
    return found


def _of(
    even: Mapping[tuple[int, str], list[float]], version: int, course: Course
) -> dict[str, list[float]]:
    return {one.id: even.get((version, one.id), []) for one in course.environments}


def _changes(
    field: Field, course: Course, even: Mapping[tuple[int, str], list[float]]
) -> tuple[Paired, Paired]:
    """Return the pairs (parent, trained) and (trained, last) on a shard; empty where one is missing."""
    there = {one.version for one in field.contestants}
    student = next((one for one in field.contestants if one.shard == course.shard), None)
    last = field.contestants[-1].version

    def pair(first: int | None, second: int | None) -> Paired:
        if first is None or second is None or first == second or not {first, second} <= there:
            return {}, {}
        return _of(even, first, course), _of(even, second, course)

    taught = student.version if student else None
    return pair(student.parent if student else None, taught), pair(taught, last)


def _together(pairs: Sequence[Paired]) -> Estimate:
    """Return the paired difference over the environments of all shards."""
    before = {name: values for first, _ in pairs for name, values in first.items()}
    after = {name: values for _, second in pairs for name, values in second.items()}
    return paired_difference(before, after)


def _step(
    field: Field, ratings: Ratings, tally: Tally, place: int, changes: tuple[Paired, Paired]
) -> Step:
    course = field.courses[place]
    designer = field.places.get(course.designer)
    learned, kept = changes
    return Step(
        shard=course.shard,
        designer=course.designer,
        environments=len(course.environments),
        plays=int(tally.plays_EV.sum()),
        difficulty=ratings.difficulty(place),
        ahead=None if designer is None else ratings.ahead(place, designer),
        learnable=course.learnable,
        learned=paired_difference(*learned),
        kept=paired_difference(*kept),
    )


def _lead(field: Field, ratings: Ratings) -> Span | None:
    """Return the slope of (difficulty less designer's rating) over the shards whose designer plays."""
    pairs = [
        (place, field.places[course.designer])
        for place, course in enumerate(field.courses)
        if course.designer in field.places
    ]
    if len(pairs) < 2:
        return None
    at = np.array([place for place, _ in pairs], dtype=float)
    away = at - at.mean()
    weights_P = np.zeros(len(ratings.model_PP))
    for (place, designer), weight in zip(pairs, away / (away @ away), strict=True):
        weights_P[len(ratings.rating_V) + place] += weight
        weights_P[designer] -= weight
    return ratings.span(weights_P)


def _odd(
    ratings: Ratings,
    tallies: Sequence[Tally],
    field: Field,
    even: Mapping[tuple[int, str], list[float]],
) -> float:
    """Return the share of version-shard pairs whose floor is not what the ratings expect."""
    odd = []
    for place, (course, tally) in enumerate(zip(field.courses, tallies, strict=True)):
        at_E = places(ratings, place, tally)
        for contestant, rating in zip(field.contestants, ratings.rating_V, strict=True):
            found, expected, variance = 0.0, 0.0, 0.0
            for one, at in zip(course.environments, at_E, strict=True):
                values = even.get((contestant.version, one.id), [])
                p = float(chance(np.array(rating - at)))
                found += math.fsum(values)
                expected += len(values) * p
                variance += len(values) * p * (1 - p)
            if variance:
                odd.append(abs(found - expected) > WIDE * math.sqrt(variance))
    return sum(odd) / len(odd) if odd else 0.0


def _plays(tallies: Sequence[Tally], version: int) -> int:
    return int(sum(one.plays_EV[:, version].sum() for one in tallies))


def _way(slope: Span | None) -> str:
    if slope is None or slope.low <= 0 <= slope.high:
        return "show no trend"
    return "rise" if slope.low > 0 else "fall"
