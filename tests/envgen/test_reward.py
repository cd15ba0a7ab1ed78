import math

import pytest

from envgen.reward import (
    Averages,
    blend,
    designer_reward,
    learning_potential,
    plateau,
    regret,
    solve_rate,
)


@pytest.mark.parametrize(
    ("mean", "value"),
    [
        (0, 0),
        (0.15, 0),
        (0.275, 0.5),
        (0.4, 1),
        (0.5, 1),
        (0.6, 1),
        (0.725, 0.5),
        (0.85, 0),
        (1, 0),
    ],
)
def test_plateau(mean: float, value: float) -> None:
    assert plateau(mean) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("hinted", "unhinted", "paid"),
    [(0, 0, 0), (1, 0, 1), (1, 1, 0), (0.5, 0.5, 0), (0.2, 0.7, 0), (0.75, 0.5, 0.25)],
)
def test_regret_is_floored_only_in_the_reward(hinted: float, unhinted: float, paid: float) -> None:
    assert regret(hinted, unhinted) == pytest.approx(paid)


@pytest.mark.parametrize(
    ("hinted", "unhinted", "paid"),
    [
        (0, 0, 0),
        (1, 0, 0.4),
        (0.5, 0.5, 0.6),
        (0.575, 0.5, 0.8),
        (0.65, 0.5, 1),
        (1, 0.5, 1),
        (1, 1, 0),
        (0.3, 0.15, 0.4),
    ],
)
def test_blend(hinted: float, unhinted: float, paid: float) -> None:
    assert blend(hinted, unhinted) == pytest.approx(paid)


def test_solve_rate_ignores_the_hinted_arm() -> None:
    assert solve_rate(0.0, 0.5) == solve_rate(1.0, 0.5) == 1


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.1])
@pytest.mark.parametrize("pay", [regret, blend, solve_rate])
def test_a_mean_that_is_no_return_is_refused(pay, bad: float) -> None:
    with pytest.raises(ValueError, match="must lie in"):
        pay(bad, 0.5)
    if pay is not solve_rate:
        with pytest.raises(ValueError, match="must lie in"):
            pay(0.5, bad)


def test_learning_potential_is_half_the_distance_from_what_the_skill_returned_so_far() -> None:
    steady = Averages(0.5, 0.5)
    assert learning_potential(0.5, steady) == 0
    assert learning_potential(1.0, steady) == pytest.approx(0.25)
    assert learning_potential(0.0, steady) == pytest.approx(0.25)
    assert learning_potential(0.0, Averages(1.0, 1.0)) == pytest.approx(0.5)


def test_the_first_environment_of_a_skill_has_no_learning_potential() -> None:
    assert learning_potential(0.7, Averages()) == 0
    assert Averages().after(0.7) == Averages(0.7, 0.7)


def test_the_fast_average_follows_the_newest_return_closer_than_the_slow_one() -> None:
    after = Averages(0.0, 0.0).after(1.0)
    assert (after.fast, after.slow) == (pytest.approx(0.98), pytest.approx(0.85))


@pytest.mark.parametrize(
    ("kind", "paid"),
    [("blend", 1.0), ("regret", 0.25), ("solve_rate", 1.0), ("learning_potential", 0.25)],
)
def test_each_variant_pays_by_its_own_rule(kind, paid: float) -> None:
    assert designer_reward(kind, 0.75, 0.5, Averages(0.0, 0.0)) == pytest.approx(paid)


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1])
def test_learning_potential_refuses_what_is_no_return(bad: float) -> None:
    with pytest.raises(ValueError, match="must lie in"):
        learning_potential(bad, Averages())
