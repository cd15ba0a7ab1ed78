"""Which environments are played: by standing, shard, what earlier steps saw, and a seed."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.standing import STATUSES
from solver.curriculum import (
    CLOSED,
    Candidate,
    Choice,
    Rules,
    Seen,
    State,
    as_json,
    choose,
    from_json,
    instances,
    observe,
)

POOL = [
    Candidate("f1", 3, "frontier", 2),
    Candidate("f2", 3, "frontier", 2),
    Candidate("u1", 3, "unmeasured"),
    Candidate("m1", 3, "mastered", 2),
    Candidate("h1", 3, "hopeless", 2),
    Candidate("p1", 3, "hint_only", 2),
    Candidate("o1", 1, "frontier", 0),
    Candidate("o2", 2, "frontier", 1),
    Candidate("o3", 2, "unmeasured"),
    Candidate("n1", 4, "frontier", 2),
]
RULES = Rules(shard=3, version=2, count=4, replay=0.25)


def played(
    rules: Rules, seed: int = 0, pool: Sequence[Candidate] = POOL, state: State | None = None
) -> list[str]:
    return list(choose(state or State(), pool, rules, seed)[0].environments)


def test_the_frontier_of_the_shard_comes_first_and_old_frontier_has_its_share() -> None:
    chosen = played(RULES)
    assert set(chosen[:2]) == {"f1", "f2"} and chosen[2] == "u1"
    assert chosen[3] in {"o1", "o2"}


def test_old_frontier_fills_what_the_shard_cannot() -> None:
    assert set(played(replace(RULES, count=9))) == {"f1", "f2", "u1", "o1", "o2"}


def test_nothing_off_the_frontier_or_of_later_shards_is_played() -> None:
    for seed in range(20):
        chosen = set(played(replace(RULES, count=9, replay=0.5), seed))
        assert not chosen & {"m1", "h1", "p1", "o3", "n1"}


def test_the_choice_depends_on_its_seed_and_not_on_the_order_given() -> None:
    rules = replace(RULES, count=3, replay=0.4)
    draws = [tuple(played(rules, seed)) for seed in range(20)]
    assert len(set(draws)) > 2
    assert played(rules, 5, POOL[::-1]) == list(draws[5])


def test_no_candidate_no_place() -> None:
    assert played(RULES, pool=[]) == []
    assert played(replace(RULES, count=0)) == []


def test_every_choice_says_why_and_why_not() -> None:
    choice, _ = choose(State(), POOL, RULES, 0)
    assert choice.counts() == {"frontier": 2, "replayed": 1, "unmeasured": 1}
    assert choice.left_out == {
        "hint_only": 1,
        "hopeless": 1,
        "mastered": 1,
        "no place": 1,
        "of a later shard": 1,
        "old and unmeasured": 1,
    }


def test_what_a_step_saw_off_the_frontier_is_not_played_again_until_it_is_measured_anew() -> None:
    rules = replace(RULES, count=9)
    _, state = choose(State(), POOL, rules, 0)
    state = observe(state, {"f1": [1.0] * 8, "f2": [0.5, 0.6], "u1": [0.0] * 4, "o1": []})
    later = replace(rules, version=3)
    assert set(played(later, state=state)) == {"f2", "o1", "o2"}
    # Measured again by a later version, with both arms: that counts.
    again = [replace(one, measured=3) if one.environment == "f1" else one for one in POOL]
    assert "f1" in played(replace(later, version=4), pool=again, state=state)


def test_plays_inside_the_band_say_nothing_about_the_frontier() -> None:
    """Without the hinted arm there is no regret: what the measurement said stands."""
    unmeasured = [Candidate("old", 1, "frontier", 0), Candidate("new", 3, "unmeasured")]
    _, state = choose(State(), unmeasured, RULES, 0)
    state = observe(state, {"old": [0.0, 1.0], "new": [0.0, 1.0]})
    choice, _ = choose(state, unmeasured, replace(RULES, version=3), 0)
    assert choice.counts() == {"replayed": 1, "unmeasured": 1}


def test_a_uniform_pool_is_gone_through_before_any_is_played_again() -> None:
    pool = [Candidate(f"e{n}", 1, STATUSES[n % len(STATUSES)], 0) for n in range(10)]
    pool.append(Candidate("other", 2, "frontier", 0))
    state, counts = State(), []
    for step in range(5):
        rules = Rules(shard=1, version=step, count=4, replay=0.25, kind="uniform")
        choice, state = choose(state, pool, rules, step)
        counts.append(choice.environments)
        state = observe(state, {name: [1.0] for name in choice.environments})
    assert len({*counts[0], *counts[1]}) == 8 and len({*counts[0], *counts[1], *counts[2]}) == 10
    assert {one.steps for one in state.seen.values()} == {2} and "other" not in state.seen


NAMES = st.integers(0, 30).map(lambda number: f"env{number}")
CANDIDATES = st.lists(
    st.builds(Candidate, NAMES, st.integers(1, 4), st.sampled_from(STATUSES), st.integers(-1, 5)),
    unique_by=lambda one: one.environment,
    max_size=20,
)
STATES = st.dictionaries(
    NAMES,
    st.builds(Seen, st.integers(1, 9), st.integers(0, 5), st.integers(1, 64), st.floats(0.0, 1.0)),
    max_size=20,
).map(State)
ALL_RULES = st.builds(
    Rules,
    shard=st.integers(1, 4),
    version=st.integers(0, 6),
    count=st.integers(0, 12),
    replay=st.floats(0.0, 0.99),
    kind=st.sampled_from(["frontier", "uniform"]),
)
SEEDS = st.integers(0, 2**32)


@given(STATES, CANDIDATES, ALL_RULES, SEEDS)
def test_whatever_is_given_a_choice_keeps_its_word(
    state: State, candidates: list[Candidate], rules: Rules, seed: int
) -> None:
    choice, after = choose(state, candidates, rules, seed)
    known = {one.environment: one for one in candidates}
    names = choice.environments
    assert len(set(names)) == len(names) <= rules.count and set(names) <= set(known)
    # Everybody is accounted for.
    assert len(names) + sum(choice.left_out.values()) == len(candidates)
    everybody = choose(state, candidates, replace(rules, count=99, replay=0.0), seed)[0].chosen
    own = [one for one in everybody if one.why != "replayed"]
    replayed = [one for one in choice.chosen if one.why == "replayed"]
    if len(replayed) > round(rules.count * rules.replay):
        assert len(names) - len(replayed) == len(own), "an old one has a place that was not free"
    if choice.left_out.get("no place"):
        assert len(names) == rules.count, "a place was left empty"
    for one in choice.chosen:
        candidate = known[one.environment]
        if rules.kind == "uniform":
            assert candidate.shard == rules.shard
            continue
        assert candidate.status not in CLOSED
        seen = state.seen.get(one.environment)
        if seen and seen.version >= candidate.measured:
            assert seen.episode_return is not None and 0.15 <= seen.episode_return <= 0.85
        assert candidate.shard == rules.shard or (
            candidate.shard < rules.shard and candidate.status == "frontier"
        )
    # Only what is played is noted, once.
    assert {k: v for k, v in after.seen.items() if k not in names} == {
        k: v for k, v in state.seen.items() if k not in names
    }
    for name in names:
        before = state.seen.get(name, Seen(0, -1))
        assert after.seen[name] == Seen(before.steps + 1, rules.version)


@given(STATES, CANDIDATES, ALL_RULES, SEEDS)
def test_a_state_that_was_stored_chooses_as_it_would_have(
    state: State, candidates: list[Candidate], rules: Rules, seed: int
) -> None:
    choice, after = choose(state, candidates, rules, seed)
    stored = json.loads(json.dumps(as_json(choice, after)))
    assert from_json(stored) == (choice, after)
    _, again = from_json(json.loads(json.dumps(as_json(Choice(), state))))
    assert choose(again, candidates[::-1], rules, seed) == (choice, after)


@given(CANDIDATES, ALL_RULES, st.lists(SEEDS, min_size=1, max_size=6))
def test_places_go_round_among_equals(
    candidates: list[Candidate], rules: Rules, seeds: list[int]
) -> None:
    """While nothing new is learnt about them, none is played two steps more than another."""
    state = State()
    for seed in seeds:
        _, state = choose(state, candidates, rules, seed)
    everybody, _ = choose(state, candidates, replace(rules, count=99), 0)
    for why in ("frontier", "unmeasured", "replayed", "pool"):
        names = [one.environment for one in everybody.chosen if one.why == why]
        steps = [state.seen[name].steps if name in state.seen else 0 for name in names]
        assert not steps or max(steps) - min(steps) <= 1


@pytest.mark.parametrize(
    "data",
    [{}, {"choice": {}, "seen": {}}, {"choice": None, "seen": {}}]
    + [{"choice": {"chosen": [], "left_out": {}}, "seen": seen} for seen in ([], {"a": [1]})]
    + [{"choice": {"chosen": [{"environment": "a"}], "left_out": {}}, "seen": {}}],
)
def test_what_is_no_curriculum_is_refused(data: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        from_json(data)


def test_instances_are_spread_evenly_and_bounded() -> None:
    assert instances([], groups=4, most=3) == []
    assert instances(["a", "b"], groups=3, most=3) == [("a", 0), ("a", 1), ("b", 0)]
    assert len(instances(["a", "b"], groups=12, most=3)) == 6
    assert instances(["a", "b", "c"], groups=2, most=3) == [("a", 0), ("b", 0)]
