"""Long runs for charts: of many points the means of neighbours, so that a page stays small and readable.

Groups of neighbours are counted from the end, so that the newest is always whole; each stands at its
last x.
"""

import math
from collections.abc import Mapping, Sequence

from bench.charts import Point


def neighbours(steps: Sequence[object], most: int) -> int:
    """Return how many neighbours become one, for at most ``most`` of them."""
    return max(1, math.ceil(len(steps) / most))


def thinned(points: Sequence[Point], most: int) -> tuple[Point, ...]:
    """Return at most ``most`` points; what is not known of one is left out of its group's mean."""
    size = neighbours(points, most)
    if size == 1:
        return tuple(points)
    return tuple(_merged(points[max(0, end - size) : end]) for end in _ends(points, size))


def binned(
    xs: Sequence[float], rows: Mapping[str, Sequence[float]], most: int
) -> tuple[list[float], dict[str, list[float]]]:
    """Return at most ``most`` columns: their xs, and the means of each row."""
    size = neighbours(xs, most)
    ends = _ends(xs, size)
    return [xs[end - 1] for end in ends], {
        name: [_mean(row[max(0, end - size) : end]) for end in ends] for name, row in rows.items()
    }


def some(xs: Sequence[float], most: int) -> list[float]:
    """Return at most ``most`` of the places, evenly far apart, the last among them."""
    ordered = sorted(set(xs))
    return ordered[:: -neighbours(ordered, most)][::-1]


def _ends(steps: Sequence[object], size: int) -> list[int]:
    return list(range(len(steps), 0, -size))[::-1]


def _merged(points: Sequence[Point]) -> Point:
    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return _mean(known) if known else None

    return Point(
        points[-1].x,
        mean([point.y for point in points]),
        mean([point.low for point in points]),
        mean([point.high for point in points]),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
