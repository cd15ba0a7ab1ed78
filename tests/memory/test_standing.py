"""Status and regret are pure rules, also of nothing, one play and nan."""

import math

import pytest

from memory.standing import is_hint_only, measure, regret_summary, status, t95

NAN = math.nan


@pytest.mark.parametrize(
    ("unhinted", "regret", "hint_only", "plays", "expected"),
    [
        (0.5, 0.2, False, 8, "frontier"),
        (0.15, 0.01, False, 8, "frontier"),
        (0.85, 0.01, False, 8, "frontier"),
        (0.86, 0.1, False, 8, "mastered"),
        (0.14, 0.9, False, 8, "hopeless"),
        (0.0, 0.0, False, 1, "hopeless"),
        (1.0, 0.0, False, 1, "mastered"),
        (0.6, 0.0, False, 8, "mastered"),
        (0.4, -0.2, False, 8, "hopeless"),
        (0.0, 1.0, True, 8, "hint_only"),
        (0.5, NAN, False, 8, "unmeasured"),
        (0.5, None, False, 8, "unmeasured"),
        (0.9, None, False, 8, "mastered"),
        (NAN, 0.2, False, 8, "unmeasured"),
        (None, None, False, 8, "unmeasured"),
        (0.5, 0.2, False, 0, "unmeasured"),
        (0.0, 1.0, True, 0, "unmeasured"),
    ],
)
def test_status(unhinted, regret, hint_only, plays, expected):
    assert status(unhinted, regret, hint_only, plays) == expected


def test_only_a_hint_that_always_wins_where_nothing_else_does_makes_hint_only():
    assert is_hint_only([0.0, 0.0], [1.0, 1.0])
    assert not is_hint_only([0.0, 1.0], [1.0, 1.0])
    assert not is_hint_only([0.0, 0.0], [1.0, 0.0])
    assert not is_hint_only([], [1.0])
    assert not is_hint_only([0.0], [])


def test_regret_of_paired_seeds_uses_their_differences():
    bare = [(1, 0.0), (2, 1.0), (3, 0.0), (4, 1.0)]
    helped = [(seed, value + 0.25) for seed, value in bare]
    found = regret_summary(bare, helped)
    assert found.regret == pytest.approx(0.25)
    # Every difference is the same, so pairing leaves no doubt, whatever the spread of the arms.
    assert (found.low, found.high) == pytest.approx((0.25, 0.25))


def test_the_interval_is_students():
    bare = [(1, 0.0), (2, 0.0), (3, 0.0)]
    helped = [(1, 0.0), (2, 0.3), (3, 0.6)]
    found = regret_summary(bare, helped)
    half = 4.3027 * 0.3 / math.sqrt(3)
    assert (found.low, found.high) == pytest.approx((0.3 - half, min(1.0, 0.3 + half)))


def test_arms_without_common_seeds_and_without_plays_still_give_an_honest_interval():
    unpaired = regret_summary([(1, 0.0), (2, 1.0)], [(3, 1.0), (4, 1.0)])
    assert unpaired.low < 0 < unpaired.regret < unpaired.high
    single = regret_summary([(1, 0.0)], [(2, 1.0)])
    assert (single.regret, single.low, single.high) == (1.0, -1.0, 1.0)
    none = regret_summary([], [(1, 1.0)])
    assert math.isnan(none.regret)
    assert math.isnan(none.low)
    assert none.plays_unhinted == 0


def test_measure_leaves_out_faulted_plays_and_those_of_others(make):
    plays = [
        make.play(0, arm="unhinted", seed=1, episode_return=0.5),
        make.play(1, arm="hinted", seed=1, episode_return=1.0),
        make.play(2, arm="hinted", seed=2, episode_return=None, fault="timeout"),
        make.play(3, arm="unhinted", environment="other", episode_return=0.0),
        make.play(4, arm="unhinted", policy_version=9, episode_return=0.0),
    ]
    found = measure("e", 0, plays, 3)
    assert (found.plays_unhinted, found.plays_hinted) == (1, 1)
    assert found.regret == 0.5
    assert found.status == "frontier"
    assert found.updated == 3
    assert measure("e", 0, [], 1).status == "unmeasured"


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.706), (10, 2.228), (11, 2.201), (20, 2.086), (71, 1.9939), (10**6, 1.95996)],
)
def test_t_quantiles_match_the_published_table(freedom, expected):
    assert t95(freedom) == pytest.approx(expected, abs=1e-3)


def test_a_t_quantile_without_freedom_is_refused():
    with pytest.raises(ValueError, match="degree"):
        t95(0)
