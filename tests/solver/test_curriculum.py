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
    LOOK_AGAIN,
    SEEDS,
    Candidate,
    Choice,
    Group,
    Rules,
    Seen,
    State,
    as_json,
    choose,
    from_json,
    instances,
    observe,
    standing,
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


def group(version: int, seed: int, value: float | None, plays: int = 16) -> Group:
    return Group(version, seed, plays if value is not None else 0, value)


def stands(status: str, measured: int, *groups: tuple[int, float | None]) -> str:
    """What is said of an environment after groups of (version, mean return), each of its own seed."""
    seen = tuple(group(version, seed, value) for seed, (version, value) in enumerate(groups))
    return standing(Candidate("e", 1, status, measured), Seen(1, 9, seen))[0]


def test_the_frontier_of_the_shard_comes_first_and_old_frontier_has_its_share() -> None:
    chosen = played(RULES)
    assert set(chosen[:2]) == {"f1", "f2"} and chosen[2] == "u1"
    assert chosen[3] in {"o1", "o2"}


def test_old_frontier_fills_what_the_shard_cannot() -> None:
    assert set(played(replace(RULES, count=9))) == {"f1", "f2", "u1", "o1", "o2"}


def test_without_replay_nothing_of_older_shards_is_played() -> None:
    assert set(played(replace(RULES, count=9, replay=0.0))) == {"f1", "f2", "u1"}


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
    }


@pytest.mark.parametrize(
    ("status", "measured", "groups", "expected"),
    [
        # One instance is one task, however often it was played; so are two.
        ("frontier", 2, [(2, 0.0)], "frontier"),
        ("frontier", 2, [(2, 1.0), (3, 1.0)], "frontier"),
        ("frontier", 2, [(2, 0.0), (2, 0.1), (2, 0.0)], "hopeless"),
        ("frontier", 2, [(2, 1.0), (5, 0.9), (9, 1.0)], "mastered"),
        ("frontier", 2, [(2, 1.0), (2, 0.0), (3, 1.0)], "frontier"),
        ("frontier", 2, [(2, 0.0), (2, 0.0), (3, 0.5)], "frontier"),
        # Older than the measurement: that knows more.
        ("frontier", 3, [(2, 0.0), (2, 0.1), (3, 0.0)], "frontier"),
        ("unmeasured", -1, [(0, 0.5), (0, 0.5), (0, 0.5)], "unmeasured"),
        ("unmeasured", -1, [(0, 0.0), (0, 0.0), (0, 0.0)], "hopeless"),
        # Every play breaks.
        ("frontier", 2, [(2, None), (2, None)], "frontier"),
        ("frontier", 2, [(2, None), (3, None), (4, None)], "faulting"),
        ("frontier", 2, [(2, None), (3, None), (4, 0.0)], "frontier"),
        # A look at what a measurement closed: it is as it was, or it is not.
        ("hopeless", 2, [(10, 0.0)], "hopeless"),
        ("hopeless", 2, [(10, None)], "hopeless"),
        ("hint_only", 2, [(10, 0.0), (11, 0.0), (12, 0.0)], "hint_only"),
        ("hopeless", 2, [(10, 0.3)], "frontier"),
        ("hint_only", 2, [(10, 1.0)], "frontier"),
        ("mastered", 2, [(10, 0.8)], "frontier"),
        ("hopeless", 2, [(10, 1.0), (11, 1.0), (12, 1.0)], "mastered"),
        ("mastered", 2, [(2, 0.8)], "mastered"),
    ],
)
def test_only_several_instances_that_agree_close_an_environment(
    status: str, measured: int, groups: list[tuple[int, float | None]], expected: str
) -> None:
    assert stands(status, measured, *groups) == expected


def test_what_steps_closed_is_not_played_and_looked_at_again_after_some_versions() -> None:
    pool = [Candidate("a", 1, "frontier", 0), Candidate("b", 1, "frontier", 0)]
    rules = Rules(shard=2, version=1, count=9, replay=0.1)
    _, state = choose(State(), pool, rules, 0)
    state = observe(state, {"a": [group(1, seed, 0.0) for seed in range(3)]})
    for version in range(2, 1 + LOOK_AGAIN):
        assert played(replace(rules, version=version), pool=pool, state=state) == ["b"]
    due = replace(rules, version=1 + LOOK_AGAIN)
    choice, state = choose(state, pool, due, 0)
    assert choice.counts() == {"again": 1, "replayed": 1}
    closed = observe(state, {"a": [group(due.version, 7, 0.0)]})
    opened = observe(state, {"a": [group(due.version, 7, 0.5)]})
    later = replace(due, version=due.version + 1)
    assert played(later, pool=pool, state=closed) == ["b"]
    assert set(played(later, pool=pool, state=opened)) == {"a", "b"}
    again = choose(closed, pool, replace(due, version=due.version + LOOK_AGAIN), 0)[0]
    assert again.counts() == {"again": 1, "replayed": 1}


def test_one_closed_environment_a_step_is_looked_at_the_longest_closed_first() -> None:
    closed = [Candidate(f"c{n}", 1, "hopeless", n) for n in range(5)]
    open_ones = [Candidate(f"o{n}", 2, "frontier", 5) for n in range(9)]
    rules = Rules(shard=3, version=20, count=12, replay=0.25)
    new = [Candidate(f"n{n}", 3, "frontier", 19) for n in range(12)]
    choice, _ = choose(State(), closed + open_ones + new, rules, 0)
    assert choice.counts() == {"again": 1, "frontier": 9, "replayed": 2}
    assert "c0" in choice.environments
    # Where there is but one place for old ones, the frontier has it.
    few, _ = choose(State(), closed + open_ones + new, replace(rules, replay=0.1), 0)
    assert few.counts() == {"frontier": 11, "replayed": 1}
    # The next step looks at the next one.
    state = State({"c0": Seen(1, 20, (group(20, 1, 0.0),))})
    assert "c1" in played(rules, pool=closed + open_ones + new, state=state)


def test_a_later_measurement_counts_before_older_plays() -> None:
    rules = replace(RULES, count=9)
    state = State({"f1": Seen(3, 2, tuple(group(2, seed, 1.0) for seed in range(3)))})
    assert "f1" not in played(rules, state=state)
    again = [replace(one, measured=3) if one.environment == "f1" else one for one in POOL]
    assert "f1" in played(replace(rules, version=3), pool=again, state=state)


def test_the_newest_groups_are_kept_and_no_seed_twice() -> None:
    state = State({"a": Seen(1, 0)})
    for version in range(3):
        state = observe(
            state, {"a": [group(version, seed, 0.5) for seed in (version, version + 1)]}
        )
    assert [(one.version, one.seed) for one in state.seen["a"].groups] == [(1, 1), (2, 2), (2, 3)]
    state = observe(state, {"a": [group(3, seed, 0.5) for seed in range(5)]})
    assert len(state.seen["a"].groups) == 5
    assert observe(state, {}) == state


def test_plays_inside_the_band_say_nothing_about_the_frontier() -> None:
    """Without the hinted arm there is no regret: what the measurement said stands."""
    unmeasured = [Candidate("old", 1, "frontier", 0), Candidate("new", 3, "unmeasured")]
    _, state = choose(State(), unmeasured, RULES, 0)
    seen = [group(2, seed, 0.5) for seed in range(SEEDS)]
    state = observe(state, {"old": seen, "new": seen})
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
        state = observe(state, {name: [group(step, step, 1.0)] for name in choice.environments})
    assert len({*counts[0], *counts[1]}) == 8 and len({*counts[0], *counts[1], *counts[2]}) == 10
    assert {one.steps for one in state.seen.values()} == {2} and "other" not in state.seen


NAMES = st.integers(0, 30).map(lambda number: f"env{number}")
CANDIDATES = st.lists(
    st.builds(Candidate, NAMES, st.integers(1, 4), st.sampled_from(STATUSES), st.integers(-1, 5)),
    unique_by=lambda one: one.environment,
    max_size=20,
)
GROUPS = st.builds(
    group,
    st.integers(0, 16),
    st.integers(0, 9),
    st.sampled_from([None, 0.0, 0.1, 0.15, 0.5, 0.85, 0.9, 1.0]),
)
STATES = st.dictionaries(
    NAMES,
    st.builds(Seen, st.integers(1, 9), st.integers(0, 16), st.lists(GROUPS, max_size=4).map(tuple)),
    max_size=20,
).map(State)
ALL_RULES = st.builds(
    Rules,
    shard=st.integers(1, 4),
    version=st.integers(0, 16),
    count=st.integers(0, 12),
    replay=st.floats(0.0, 0.99),
    kind=st.sampled_from(["frontier", "uniform"]),
)
LOTS = st.integers(0, 2**32)


@given(STATES, CANDIDATES, ALL_RULES, LOTS)
def test_whatever_is_given_a_choice_keeps_its_word(
    state: State, candidates: list[Candidate], rules: Rules, seed: int
) -> None:
    choice, after = choose(state, candidates, rules, seed)
    known = {one.environment: one for one in candidates}
    names = choice.environments
    assert len(set(names)) == len(names) <= rules.count and set(names) <= set(known)
    own = [one for one in candidates if one.shard == rules.shard]
    playable = choose(state, candidates, replace(rules, count=99), seed)[0]
    reasons = {name: count for name, count in choice.left_out.items() if name != "no place"}
    # Everybody of the shard is accounted for.
    assert sum(reasons.values()) + sum(
        one.environment in standing_open(state, candidates, rules) for one in own
    ) == len(own)
    others = [one for one in choice.chosen if one.why in ("replayed", "again")]
    mine = [one for one in playable.chosen if one.why not in ("replayed", "again")]
    if len(others) > round(rules.count * rules.replay):
        assert len(names) - len(others) == len(mine), "an old one has a place that was not free"
    if len(names) < rules.count:
        assert set(names) == set(playable.environments), "a place was left empty"
    assert choice.counts().get("again", 0) <= 1
    for one in choice.chosen:
        candidate = known[one.environment]
        assert candidate.shard == one.shard <= rules.shard
        assert candidate.shard == rules.shard or rules.replay > 0
        if rules.kind == "uniform":
            assert candidate.shard == rules.shard and one.why == "pool"
            continue
        found, about = standing(candidate, state.of(one.environment))
        assert (one.why == "again") == (found in CLOSED)
        assert one.why != "again" or rules.version - about >= LOOK_AGAIN
        assert one.why != "replayed" or found == "frontier"
    # Only what is played is noted, once.
    assert {k: v for k, v in after.seen.items() if k not in names} == {
        k: v for k, v in state.seen.items() if k not in names
    }
    for name in names:
        before = state.of(name)
        assert after.seen[name] == Seen(before.steps + 1, rules.version, before.groups)


def standing_open(state: State, candidates: list[Candidate], rules: Rules) -> set[str]:
    """Those that may be played, whether or not there is a place."""
    found = {one.environment: standing(one, state.of(one.environment)) for one in candidates}
    return {
        name
        for name, (status, about) in found.items()
        if rules.kind == "uniform" or status not in CLOSED or rules.version - about >= LOOK_AGAIN
    }


@given(STATES, CANDIDATES, ALL_RULES, LOTS)
def test_who_cannot_be_played_moves_nobody_else(
    state: State, candidates: list[Candidate], rules: Rules, seed: int
) -> None:
    """What a producer publishes meanwhile and what is closed change neither choice nor order."""
    choice, after = choose(state, candidates, rules, seed)
    later = [one for one in candidates if one.shard > rules.shard]
    mine = [one for one in candidates if one.shard <= rules.shard]
    assert choose(state, mine, rules, seed) == (choice, after)
    more = [Candidate(f"x{n}", rules.shard + 1 + n, "frontier", rules.version) for n in range(3)]
    assert choose(state, more + later + mine, rules, seed) == (choice, after)
    if rules.kind == "frontier":
        closed = [
            Candidate(f"x{n}", 1 + n % rules.shard, status, rules.version)
            for n, status in enumerate(["mastered", "hopeless", "hint_only"])
        ]
        fuller, same = choose(state, closed + candidates, rules, seed)
        assert (fuller.chosen, same) == (choice.chosen, after)
        assert fuller.left_out.get("no place") == choice.left_out.get("no place")


@given(STATES, CANDIDATES, ALL_RULES, LOTS)
def test_a_state_that_was_stored_chooses_as_it_would_have(
    state: State, candidates: list[Candidate], rules: Rules, seed: int
) -> None:
    choice, after = choose(state, candidates, rules, seed)
    stored = json.loads(json.dumps(as_json(choice, after)))
    assert from_json(stored) == (choice, after)
    _, again = from_json(json.loads(json.dumps(as_json(Choice(), state))))
    assert choose(again, candidates[::-1], rules, seed) == (choice, after)


@given(CANDIDATES, ALL_RULES, st.lists(LOTS, min_size=1, max_size=6))
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
