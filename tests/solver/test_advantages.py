"""Advantages: centred within named groups."""

import math

import pytest

from solver.advantages import centred, scaled


@pytest.mark.parametrize(
    ("rewards", "groups", "expected"),
    [
        ([], "", []),
        ([0.7], "a", [0.0]),
        ([1.0, 0.0], "aa", [0.5, -0.5]),
        ([1.0, 0.0], "ab", [0.0, 0.0]),
        ([0.1] * 3, "aaa", [0.0] * 3),
        ([1.0, 0.0, 0.5, 0.0], "abab", [0.25, 0.0, -0.25, 0.0]),
    ],
)
def test_centring(rewards: list[float], groups: str, expected: list[float]) -> None:
    assert centred(rewards, list(groups)) == expected


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf])
def test_a_reward_that_is_not_finite_is_refused(reward: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        centred([0.0, reward], ["a", "a"])


def test_scaling_is_by_the_role_and_leaves_zeros_alone() -> None:
    assert scaled([0.0, 0.0]) == [0.0, 0.0]
    assert scaled([]) == []
    values = scaled([0.3, -0.3, 0.0, 0.1])
    assert math.fsum(value * value for value in values) == pytest.approx(len(values))


def test_a_play_counts_once_however_many_sequences_it_was_cut_into() -> None:
    whole = centred([1.0, 0.0, 0.0], ["a"] * 3)
    cut = centred([1.0, 1.0, 1.0, 1.0, 0.0, 0.0], ["a"] * 6, [0.25] * 4 + [1.0, 1.0])
    assert cut == [whole[0]] * 4 + whole[1:]
    assert scaled(cut, [0.25] * 4 + [1.0, 1.0])[3:] == pytest.approx(scaled(whole))
