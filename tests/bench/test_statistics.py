"""Means and differences clustered by environment."""

import math
from collections.abc import Mapping, Sequence

import pytest

from bench.statistics import Estimate, clustered_mean, paired_difference, quantile

Values = Mapping[str, Sequence[float]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, Estimate(None, None, None, 0, 0)),
        ({"a": []}, Estimate(None, None, None, 0, 0)),
        ({"a": [1.0]}, Estimate(1.0, None, None, 1, 1)),
        ({"a": [0.0, 1.0]}, Estimate(0.5, None, None, 1, 2)),
        ({"a": [1.0, 1.0], "b": [1.0]}, Estimate(1.0, 1.0, 1.0, 2, 3)),
        ({"a": [0.0], "b": []}, Estimate(0.0, None, None, 1, 1)),
    ],
)
def test_small_cases_of_a_clustered_mean(values: Values, expected: Estimate) -> None:
    assert clustered_mean(values) == expected


def test_every_environment_weighs_the_same() -> None:
    estimate = clustered_mean({"often": [1.0] * 9, "once": [0.0]})
    assert (estimate.mean, estimate.clusters, estimate.n) == (0.5, 2, 10)


def test_the_interval_is_student_t_over_environments_not_over_plays() -> None:
    estimate = clustered_mean({"a": [0.0] * 50, "b": [1.0] * 50, "c": [0.5] * 50})
    # means 0, 1, 0.5: deviation 0.5, standard error 0.5 / sqrt(3), t(2) = 4.3027
    half = 4.3027 * 0.5 / math.sqrt(3)
    assert estimate.low == pytest.approx(0.5 - half)
    assert estimate.high == pytest.approx(0.5 + half)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="env7"):
        clustered_mean({"env7": [0.5, bad]})
    with pytest.raises(ValueError, match="env7"):
        paired_difference({"env7": [0.5]}, {"env7": [bad]})
    with pytest.raises(ValueError, match="not a finite"):
        quantile([bad], 0.5)


def test_the_difference_is_paired_by_environment() -> None:
    first = {"easy": [1.0, 0.8], "hard": [0.0, 0.2], "gone": [1.0]}
    second = {"easy": [1.0], "hard": [0.2], "new": [0.0]}
    difference = paired_difference(first, second)
    assert difference.mean == pytest.approx(0.1)
    assert difference.clusters == 2
    # both environments rose by exactly 0.1: no spread, although the environments differ greatly
    assert difference.low == pytest.approx(0.1)
    assert difference.n == 6


def test_nothing_in_common_gives_no_difference() -> None:
    assert paired_difference({"a": [1.0]}, {"b": [1.0]}) == Estimate(None, None, None, 0, 0)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([3.0], 0.99, 3.0), ([1.0, 2.0], 0.5, 1.5), ([4.0, 1.0, 3.0, 2.0], 1.0, 4.0)],
)
def test_quantiles(values: list[float], share: float, expected: float) -> None:
    assert quantile(values, share) == expected


def test_a_quantile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        quantile([], 0.5)
