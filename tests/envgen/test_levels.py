"""Levels of difficulty follow what the solver can do."""

import random
from collections import Counter

import pytest

from envgen.levels import FLOOR, Seen, draw_skills, wanted

LEVELS = (1, 2, 3, 4, 5)


def seen(skill: str, level: int, unhinted: float, times: int, ago: int = 0) -> list[Seen]:
    return [Seen(skill, level, unhinted, ago)] * times


def best(history: list[Seen], skill: str = "recall") -> int:
    weights = wanted(history, skill, LEVELS)
    return LEVELS[weights.index(max(weights))]


def test_without_designs_the_middle_is_the_guess_and_every_level_comes() -> None:
    weights = wanted([], "recall", LEVELS)
    assert best([]) == 3
    assert weights == pytest.approx(weights[::-1])
    drawn = Counter(random.Random(seed).choices(LEVELS, weights)[0] for seed in range(500))
    assert set(drawn) == set(LEVELS)


@pytest.mark.parametrize(
    ("level", "unhinted", "next_level"), [(2, 1.0, 5), (2, 0.85, 4), (5, 0.0, 2), (4, 0.5, 4)]
)
def test_what_is_won_is_asked_for_harder_and_what_is_lost_easier(
    level: int, unhinted: float, next_level: int
) -> None:
    assert abs(best(seen("recall", level, unhinted, 8)) - next_level) <= 1


def test_one_level_says_something_of_all() -> None:
    weights = wanted(seen("recall", 1, 1.0, 12), "recall", LEVELS)
    assert weights == sorted(weights)


def test_no_level_is_given_up() -> None:
    assert min(wanted(seen("recall", 1, 1.0, 1000), "recall", LEVELS)) >= FLOOR


def test_a_skill_that_was_not_asked_yet_learns_from_the_others() -> None:
    assert best(seen("recall", 1, 1.0, 30), "routes") > best([], "routes")


def test_one_lucky_design_says_less_than_ten() -> None:
    others = seen("routes", 3, 0.5, 30)
    one = wanted([*others, *seen("recall", 3, 1.0, 1)], "recall", LEVELS)
    ten = wanted([*others, *seen("recall", 3, 1.0, 10)], "recall", LEVELS)
    assert ten[4] / ten[2] > 1.5 * one[4] / one[2]


def test_an_old_round_says_less_than_the_last() -> None:
    history = [*seen("recall", 3, 0.0, 4, ago=5), *seen("recall", 3, 1.0, 4)]
    assert best(history) > 3


@pytest.mark.parametrize("levels", [(2,), (1, 5)])
def test_only_configured_levels_are_drawn(levels: tuple[int, ...]) -> None:
    weights = wanted(seen("recall", 3, 1.0, 5), "recall", levels)
    assert len(weights) == len(levels)
    assert random.Random(0).choices(levels, weights)[0] in levels


def test_skills_at_the_frontier_come_more_often_and_none_twice_in_a_round_nor_never() -> None:
    skills = [f"skill {number}" for number in range(8)]
    history = seen(skills[0], 5, 1.0, 30)
    for skill in skills[1:]:
        history += seen(skill, 3, 0.5, 10)
    wants = {skill: wanted(history, skill, LEVELS) for skill in skills}
    rounds = [draw_skills(random.Random(seed), wants, 4) for seed in range(300)]
    assert all(len(set(drawn)) == 4 for drawn in rounds)
    times = Counter(skill for drawn in rounds for skill in drawn)
    assert 0 < times[skills[0]] < 0.5 * min(times[skill] for skill in skills[1:])


def test_a_round_of_more_briefs_than_skills_has_every_skill() -> None:
    wants = {skill: wanted(seen("a", 3, 1.0, 9), skill, LEVELS) for skill in ("a", "b", "c")}
    drawn = draw_skills(random.Random(0), wants, 7)
    assert sorted(Counter(drawn).values()) == [2, 2, 3]
