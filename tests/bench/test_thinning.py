"""Of long runs the means of neighbours."""

import pytest

from bench.charts import Point
from bench.thinning import binned, neighbours, some, thinned


@pytest.mark.parametrize(("count", "size"), [(0, 1), (1, 1), (60, 1), (61, 2), (120, 2), (121, 3)])
def test_as_many_neighbours_become_one_as_there_must(count: int, size: int) -> None:
    assert neighbours(range(count), 60) == size


def test_groups_are_counted_from_the_end_and_stand_at_their_last_x() -> None:
    xs, rows = binned([1, 2, 3, 4, 5], {"a": [1, 2, 3, 4, 6]}, 3)
    assert (xs, rows) == ([1, 3, 5], {"a": [1.0, 2.5, 5.0]})
    assert binned([], {"a": []}, 3) == ([], {"a": []})


def test_what_is_not_known_is_left_out_of_a_mean() -> None:
    points = [Point(1, 1.0, 0.0, 2.0), Point(2, None), Point(3, None), Point(4, None)]
    assert thinned(points, 2) == (Point(2, 1.0, 0.0, 2.0), Point(4, None))
    assert thinned(points, 4) == tuple(points)


def test_places_are_evenly_apart_and_the_last_is_among_them() -> None:
    assert some([5, 1, 2, 3, 4, 5], 3) == [1, 3, 5]
    assert some([1, 2, 3, 4], 3) == [2, 4]
    assert some([], 3) == []
