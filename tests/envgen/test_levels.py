"""Levels of difficulty follow what designs were paid."""

import random
from collections import Counter

import pytest

from envgen.levels import FLOOR, Paid, choose, weights

LEVELS = (1, 2, 3, 4, 5)


def paid(skill: str, level: int, reward: float, times: int) -> list[Paid]:
    return [Paid(skill, level, reward)] * times


def test_without_designs_all_levels_weigh_the_same() -> None:
    assert len(set(weights([], "recall", LEVELS))) == 1


def test_a_level_that_paid_well_is_asked_for_more_often() -> None:
    history = paid("recall", 1, 0.1, 20) + paid("recall", 3, 0.9, 20)
    wanted = weights(history, "recall", LEVELS)
    assert wanted[2] > wanted[1] > wanted[0]
    drawn = Counter(choose(random.Random(seed), LEVELS, wanted) for seed in range(500))
    assert drawn[3] > 2 * drawn[1]


def test_no_level_is_given_up() -> None:
    history = paid("recall", 1, 0.0, 10_000) + paid("recall", 2, 1.0, 10_000)
    assert min(weights(history, "recall", LEVELS)) >= FLOOR**2 * 0.99


def test_a_skill_that_was_not_asked_yet_learns_from_the_others() -> None:
    history = paid("recall", 4, 0.9, 30) + paid("recall", 1, 0.1, 30)
    wanted = weights(history, "routes", LEVELS)
    assert wanted[3] > wanted[0]


def test_one_lucky_design_says_less_than_ten() -> None:
    others = paid("routes", 1, 0.3, 30)
    one = weights([*others, *paid("recall", 2, 1.0, 1)], "recall", LEVELS)
    ten = weights([*others, *paid("recall", 2, 1.0, 10)], "recall", LEVELS)
    assert ten[1] > 1.5 * one[1] > 1.5 * one[0]


@pytest.mark.parametrize("levels", [(2,), (1, 5)])
def test_only_configured_levels_are_drawn(levels: tuple[int, ...]) -> None:
    wanted = weights(paid("recall", 3, 1.0, 5), "recall", levels)
    assert len(wanted) == len(levels)
    assert choose(random.Random(0), levels, wanted) in levels
