import dataclasses
import itertools
import math
import random
from collections import Counter

import pytest

from bench.throughput.probe import MOST, clear, fixed, grid, sequential
from envgen.config import ProbeConfig
from envgen.probe import ARMS, FIRST_LOOK, Probe, Tally, wanted
from memory import PlayRecord
from memory.standing import measure, regret_summary

ERROR = ProbeConfig().error


def played(seed: int, arm: str, value: float | None) -> PlayRecord:
    return PlayRecord(
        id=f"{seed}{arm}",
        environment="e",
        seed=seed,
        arm=arm,
        purpose="probe",
        episode_return=value,
        turns=1,
        fault="" if value is not None else "crashed",
        stop="terminated",
        policy_version=0,
        temperature=1.0,
        ids=(),
        mask=(),
        logprobs=(),
        transcript="[]",
    )


def run(probe: Probe, returns: dict[str, float | None]) -> list[PlayRecord]:
    done: list[PlayRecord] = []
    while trials := probe.next(done):
        done += [played(trial.seed, trial.arm, returns[trial.arm]) for trial in trials]
    return done


def test_without_an_error_every_seed_is_played_once_in_each_arm_and_at_once() -> None:
    probe = Probe(8, 0.0, seed=0, environment="e")
    trials = probe.next([])
    assert len(trials) == 16 and len({trial.seed for trial in trials}) == 8
    assert Counter((t.seed, t.arm) for t in trials) == Counter(itertools.product(probe.seeds, ARMS))
    assert not probe.next([played(t.seed, t.arm, 1.0) for t in trials])


def test_the_order_hides_the_arms_and_is_drawn_for_each_environment() -> None:
    orders = [
        [t.arm for t in Probe(8, 0.0, seed=0, environment=str(i)).next([])] for i in range(400)
    ]
    assert len(set(map(tuple, orders))) > 300
    for position in range(16):
        hinted = sum(order[position] == "hinted" for order in orders)
        assert 150 < hinted < 250


def test_a_probe_is_a_function_of_its_seed() -> None:
    one, same, other = (Probe(4, 0.0, seed=seed, environment="e").next([]) for seed in (1, 1, 2))
    assert one == same != other


def test_an_interrupted_probe_goes_on_as_an_unbroken_one() -> None:
    unbroken = run(Probe(16, ERROR, seed=3, environment="e"), {"unhinted": 0.0, "hinted": 1.0})
    first = Probe(16, ERROR, seed=3, environment="e").next([])
    again = Probe(16, ERROR, seed=3, environment="e")
    done = [p for p in unbroken if p.id in {f"{t.seed}{t.arm}" for t in first}]
    while trials := again.next(done):
        done += [played(t.seed, t.arm, float(t.arm == "hinted")) for t in trials]
    assert {p.id for p in done} == {p.id for p in unbroken}


@pytest.mark.parametrize(
    ("unhinted", "hinted", "most_unhinted", "most_hinted"),
    [(0.0, 0.0, 10, 8), (1.0, 1.0, 10, 8), (0.5, 1.0, 8, 6), (0.0, 0.9, 10, 8)],
)
def test_clear_cases_end_early(
    unhinted: float, hinted: float, most_unhinted: int, most_hinted: int
) -> None:
    done = run(Probe(16, ERROR, seed=0, environment="e"), {"unhinted": unhinted, "hinted": hinted})
    arms = Counter(play.arm for play in done)
    assert FIRST_LOOK <= arms["unhinted"] <= most_unhinted
    assert FIRST_LOOK <= arms["hinted"] <= most_hinted


@pytest.mark.parametrize("plays", [4, 8, 16])
@pytest.mark.parametrize("won", [0.95, 1.0])
def test_nothing_is_taken_for_a_password_before_every_hinted_play_has_won(
    plays: int, won: float
) -> None:
    done = run(Probe(plays, ERROR, seed=0, environment="e"), {"unhinted": 0.0, "hinted": won})
    assert measure("e", 0, done, 0).hint_only
    assert sum(play.arm == "hinted" for play in done) == plays
    assert sum(play.arm == "unhinted" for play in done) <= 10


def test_the_first_hinted_play_that_is_lost_ends_the_doubt_about_a_password() -> None:
    assert wanted(Tally(6, 0.0, 0.0, 2), Tally(4, 4.0, 1.0, 4), ERROR) == ("hinted",)
    assert wanted(Tally(6, 0.0, 0.0, 2), Tally(6, 5.0, 0.0, 2), ERROR) == ()
    assert wanted(Tally(6, 0.0, 0.0, 2), Tally(8, 8.0, 1.0, 0), ERROR) == ()


def test_an_arm_whose_plays_all_fault_is_played_to_its_end_and_not_beyond() -> None:
    done = run(Probe(6, ERROR, seed=0, environment="e"), {"unhinted": None, "hinted": 1.0})
    assert Counter(play.arm for play in done) == {"unhinted": 6, "hinted": 6}


def test_a_clear_regret_needs_no_more_hinted_plays_while_the_band_is_open() -> None:
    assert wanted(Tally(8, 1.0, 0.0, 8), Tally(8, 8.0, 1.0, 8), ERROR) == ("unhinted",)


def test_no_play_is_wanted_when_none_is_left() -> None:
    assert wanted(Tally(16, 3.0, 0.0, 0), Tally(16, 3.0, 0.0, 0), ERROR) == ()
    none = Tally(0, 0.0, math.nan, 0)
    assert wanted(none, none, ERROR) == ()


def test_at_equal_error_it_needs_forty_percent_fewer_plays_than_a_fixed_plan() -> None:
    for pairs in (grid(), clear(grid())):
        found = [sequential(pair, ERROR) for pair in pairs]
        plays = sum(one for one, _ in found) / len(pairs)
        wrong = sum(one for _, one in found) / len(pairs)
        whole = sum(fixed(pair, MOST) for pair in pairs) / len(pairs)
        shorter = sum(fixed(pair, MOST - 1) for pair in pairs) / len(pairs)
        assert plays <= 0.6 * 2 * MOST
        # No shorter fixed plan is as often right, and the full one hardly more often.
        assert wrong < shorter and wrong - whole < 0.0075


def test_pairing_lowers_the_variance_of_the_regret_when_instances_differ_in_difficulty() -> None:
    rng = random.Random(0)
    paired, apart = [], []
    for _ in range(400):
        # Half of the instances are easy: 0.9 with and 0.7 without the hint, the others 0.3 and 0.1.
        easy = {seed: rng.random() < 0.5 for seed in range(32)}
        wins = {
            (seed, gain): float(rng.random() < 0.1 + 0.6 * easy[seed] + gain)
            for seed in easy
            for gain in (0.0, 0.2)
        }
        bare = [(seed, wins[seed, 0.0]) for seed in range(16)]
        paired.append(regret_summary(bare, [(s, wins[s, 0.2]) for s in range(16)]).regret)
        apart.append(regret_summary(bare, [(s, wins[s, 0.2]) for s in range(16, 32)]).regret)
    assert _variance(paired) < 0.75 * _variance(apart)


def _variance(values: list[float]) -> float:
    centre = sum(values) / len(values)
    return sum((value - centre) ** 2 for value in values) / (len(values) - 1)


def test_the_settings_refuse_an_impossible_error() -> None:
    with pytest.raises(ValueError, match="below 0.5"):
        dataclasses.replace(ProbeConfig(), error=0.5)
