"""Means, differences and their 95 % intervals, clustered by environment. Pure functions.

Plays of one environment are alike, so an interval over single plays would be too narrow. Here every
environment is one observation, its mean over its plays, and the interval is Student's t over those.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory.standing import t95


@dataclass(frozen=True)
class Estimate:
    """A mean over ``clusters`` environments and ``n`` plays; what cannot be known is ``None``.

    With no environment there is no mean; with one there is no interval.
    """

    mean: float | None
    low: float | None
    high: float | None
    clusters: int
    n: int


def clustered_mean(values: Mapping[str, Sequence[float]]) -> Estimate:
    """Return the mean of the clusters' means with its interval; empty clusters are left out.

    Every environment weighs the same, however many of its plays finished. Raises ``ValueError`` for
    a value that is not finite: a return that is not a number must never become a figure.
    """
    _check(values)
    means = [math.fsum(group) / len(group) for group in values.values() if group]
    return _estimate(means, sum(len(group) for group in values.values()))


def paired_difference(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]
) -> Estimate:
    """Return ``second - first``, paired by environment, over those that both have plays of.

    ``n`` counts the plays of both sides. Raises ``ValueError`` for a value that is not finite.
    """
    _check(first)
    _check(second)
    both = [key for key in first if first[key] and second.get(key)]
    changes = [
        math.fsum(second[key]) / len(second[key]) - math.fsum(first[key]) / len(first[key])
        for key in both
    ]
    return _estimate(changes, sum(len(first[key]) + len(second[key]) for key in both))


def quantile(values: Sequence[float], share: float) -> float:
    """Return the ``share`` quantile (0 to 1) by linear interpolation; refuses none and NaN."""
    if not values:
        raise ValueError("no values, no quantile")
    _check({"": values})
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"a quantile's share must lie in [0, 1], got {share}")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _estimate(means: Sequence[float], n: int) -> Estimate:
    count = len(means)
    if count == 0:
        return Estimate(None, None, None, 0, n)
    mean = math.fsum(means) / count
    if count == 1:
        return Estimate(mean, None, None, 1, n)
    variance = math.fsum((value - mean) ** 2 for value in means) / (count - 1)
    half = t95(count - 1) * math.sqrt(variance / count)
    return Estimate(mean, mean - half, mean + half, count, n)


def _check(values: Mapping[str, Sequence[float]]) -> None:
    for key, group in values.items():
        for value in group:
            if not math.isfinite(value):
                raise ValueError(f"{key or 'values'}: {value} is not a finite number")
