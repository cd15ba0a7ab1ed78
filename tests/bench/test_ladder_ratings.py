"""The estimator on simulated plays: known ratings are found, intervals cover, no trend is made up."""

from typing import Any

import numpy as np
import pytest

from bench.ladder.choice import _value, budget, choose, floor_of
from bench.ladder.ratings import Array, Ratings, Tally, chance, fit, places

RISING_V, RISING_S = np.linspace(0.0, 2.0, 6), np.linspace(-0.5, 1.5, 5)


def simulate(
    rng: np.random.Generator,
    rating_V: Array,
    difficulty_S: Array,
    *,
    environments: int = 8,
    plays: int = 1,
    spread: float = 1.5,
    likings: float = 0.0,
    partial: bool = False,
) -> list[Tally]:
    """Play every version on every environment. ``likings``: how versions differ on one environment."""
    shards = []
    for difficulty in difficulty_S:
        shape = environments, len(rating_V)
        place_E = difficulty + spread * rng.normal(size=environments)
        chance_EV = chance(rating_V - place_E[:, None] + likings * rng.normal(size=shape))
        if partial:
            total_EV = sum(rng.beta(2 * chance_EV, 2 - 2 * chance_EV) for _ in range(plays))
        else:
            total_EV = rng.binomial(plays, chance_EV).astype(float)
        shards.append(Tally(np.asarray(total_EV), np.full(shape, float(plays))))
    return shards


def covered(found: Ratings, rating_V: Array, difficulty_S: Array) -> list[bool]:
    spans = [(found.rating(place), true) for place, true in enumerate(rating_V) if place]
    spans += [(found.difficulty(place), true) for place, true in enumerate(difficulty_S)]
    return [span.low <= true <= span.high for span, true in spans]


def test_known_ratings_are_recovered() -> None:
    shards = simulate(
        np.random.default_rng(1), RISING_V, RISING_S, environments=150, plays=6, spread=1.0
    )
    found = fit(shards)
    assert found.rating_V[0] == 0.0
    np.testing.assert_allclose(found.rating_V, RISING_V, atol=0.25)
    np.testing.assert_allclose(found.difficulty_S, RISING_S, atol=0.3)
    assert found.spread == pytest.approx(1.0, abs=0.1)
    for shards_, true in ((False, 0.4), (True, 0.5)):
        slope = found.slope(shards=shards_)
        assert slope is not None
        assert slope.value == pytest.approx(true, abs=0.07)
        assert slope.low > 0


@pytest.mark.parametrize(
    "how", [{}, {"plays": 2, "partial": True}, {"plays": 4, "spread": 2.5, "environments": 6}]
)
def test_intervals_cover_the_truth_nineteen_times_in_twenty(how: dict[str, Any]) -> None:
    rng = np.random.default_rng(2)
    found = [
        covered(fit(simulate(rng, RISING_V, RISING_S, **how)), RISING_V, RISING_S)
        for _ in range(24)
    ]
    # errors of one simulation go together, so that the share itself varies by some hundredths
    assert 0.90 <= np.mean(found) <= 1.0


def test_no_trend_is_found_where_there_is_none() -> None:
    rng = np.random.default_rng(3)
    flat_V, flat_S = np.zeros(6), np.zeros(5)
    seen: dict[bool, list[bool]] = {False: [], True: []}
    for _ in range(40):
        # versions have their likings: plays of one pair go together, and plain intervals are too narrow
        found = fit(simulate(rng, flat_V, flat_S, plays=8, likings=1.5))
        for shards in (False, True):
            slope = found.slope(shards=shards)
            assert slope is not None
            seen[shards].append(not slope.low <= 0 <= slope.high)
    assert np.mean(seen[False]) <= 0.15
    assert np.mean(seen[True]) <= 0.15


def test_the_information_is_the_curvature() -> None:
    from bench.ladder.ratings import _loss

    shards = simulate(np.random.default_rng(4), RISING_V[:3], RISING_S[:2], plays=2)
    at_P, step = np.array([0.0, 0.3, -0.2, 0.1, 0.5, 0.2]), 1e-5
    loss = _loss(at_P, shards)
    for place, unit_P in enumerate(np.eye(len(at_P))):
        up, down = (_loss(at_P + sign * step * unit_P, shards) for sign in (1, -1))
        assert loss.slope_P[place] == pytest.approx((up.value - down.value) / (2 * step), abs=1e-5)
        bend_P = (up.slope_P - down.slope_P) / (2 * step)
        np.testing.assert_allclose(loss.bend_PP[place], bend_P, atol=1e-5)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_field_that_always_loses_or_wins_has_finite_wide_ratings(share: float) -> None:
    plays_EV = np.full((4, 3), 2.0)
    found = fit([Tally(share * plays_EV, plays_EV)] * 2)
    spans = [found.rating(1), found.difficulty(0)]
    assert all(np.isfinite([one.low, one.high]).all() and one.high - one.low > 1 for one in spans)
    slope = found.slope(shards=False)
    assert slope is not None
    assert slope.low < 0 < slope.high


def test_what_was_not_played_is_as_wide_as_what_is_assumed() -> None:
    plays_EV = np.zeros((4, 2))
    plays_EV[:, 0] = 3.0
    span = fit([Tally(plays_EV / 2, plays_EV)]).rating(1)
    assert span.high - span.low == pytest.approx(2 * 1.96 * 5.0, rel=0.01)


def test_an_environment_lies_where_its_plays_put_it() -> None:
    plays_EV = np.full((3, 2), 8.0)
    tally = Tally(np.array([[8.0, 8.0], [4.0, 4.0], [0.0, 0.0]]), plays_EV)
    easy, middling, hard = places(fit([tally]), 0, tally)
    assert easy < middling < hard


def test_returns_beyond_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        fit([Tally(np.full((2, 2), 1.5), np.ones((2, 2)))])
    with pytest.raises(ValueError, match="a version and a shard"):
        fit([])


def test_every_version_has_its_floor_on_every_shard_on_the_same_plays() -> None:
    made = list(floor_of(3, [5, 2], 4))
    assert len(made) == len(set(made)) == 3 * 2 * 4
    by_version = [
        [(environment, number) for (version, environment), number in made if version == one]
        for one in range(3)
    ]
    assert by_version[0] == by_version[1] == by_version[2]
    # of the small shard, each environment twice
    assert by_version[0][4:] == [(5, 0), (6, 0), (5, 1), (6, 1)]


def test_plays_go_first_to_environments_that_were_not_played() -> None:
    plays_EV = np.zeros((4, 3))
    plays_EV[:2] = 4.0
    shards = [Tally(0.5 * plays_EV, plays_EV)] * 2
    sound_E = np.ones(8, bool)
    sound_E[7] = False
    picks = choose(fit(shards), shards, sound_E, 12)
    assert len(picks) == 12
    assert {environment for _, environment in picks[:3]} == {2, 3, 6}
    assert 7 not in {environment for _, environment in picks}
    assert choose(fit(shards), shards, np.zeros(8, bool), 3) == []


def test_few_plays_go_where_the_outcome_is_sure() -> None:
    plays_EV = np.full((4, 3), 10.0)
    lost, even = Tally(0.0 * plays_EV, plays_EV), Tally(0.5 * plays_EV, plays_EV)
    picks = choose(fit([lost, even, even]), [lost, even, even], np.ones(12, bool), 30)
    assert sum(environment < 4 for _, environment in picks) < 10


def test_adaptive_plays_tell_more_of_returns_than_even_ones() -> None:
    rng = np.random.default_rng(5)
    rating_V, difficulty_S = np.linspace(0, 3, 5), np.linspace(-3, 6, 6)
    place_SE = difficulty_S[:, None] + rng.normal(size=(6, 8))
    chance_SEV = chance(rating_V - place_SE[:, :, None])

    def played(picks: list[tuple[int, int]]) -> list[Tally]:
        plays_SEV = np.zeros((6, 8, 5))
        plays_SEV[:, :2] = 1.0
        for version, environment in picks:
            plays_SEV[environment // 8, environment % 8, version] += 1
        luck = np.random.default_rng(6).binomial(plays_SEV.astype(int), chance_SEV)
        return [Tally(luck[s].astype(float), plays_SEV[s]) for s in range(6)]

    def width(shards: list[Tally]) -> float:
        found = fit(shards)
        return float((_value(found) * found.model_PP[:-1, :-1]).sum())

    floor = played([])
    told = choose(fit(floor), floor, np.ones(48, bool), 150)
    even = [(n % 5, (2 + n // 5 * 7) % 48) for n in range(150)]
    assert width(played(told)) < 0.9 * width(played(even))


def test_a_budget_below_the_floor_says_what_fits() -> None:
    assert budget(3, 2, 4, 0, 1) == 48
    assert budget(3, 2, 4, 30, 1) == 30
    with pytest.raises(ValueError, match=r"ladder\.plays = 20, .* are 24; ") as told:
        budget(3, 2, 4, 20, 1)
    assert str(told.value).endswith("ladder.plays = 24, or ladder.floor = 3, or ladder.every = 2")
    assert budget(3, 2, 3, 20, 1) == 20  # both ways fit
    assert budget(2, 2, 4, 20, 2) == 20
    with pytest.raises(ValueError, match=r"what fits: ladder\.plays = 1680, or ladder\.every = 5"):
        budget(21, 20, 4, 400, 1)
    with pytest.raises(ValueError, match=r"what fits: ladder\.plays = 16$"):
        budget(2, 2, 4, 3, 1)
