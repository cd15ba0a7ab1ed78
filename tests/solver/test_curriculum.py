"""Which environments are played: by standing, shard and seed."""

from solver.curriculum import Candidate, choose, instances

POOL = [
    Candidate("f1", 3, "frontier"),
    Candidate("f2", 3, "frontier"),
    Candidate("u1", 3, "unmeasured"),
    Candidate("m1", 3, "mastered"),
    Candidate("h1", 3, "hopeless"),
    Candidate("p1", 3, "hint_only"),
    Candidate("o1", 1, "frontier"),
    Candidate("o2", 2, "frontier"),
    Candidate("o3", 2, "unmeasured"),
    Candidate("n1", 4, "frontier"),
]


def test_the_frontier_of_the_shard_comes_first_and_old_frontier_has_its_share() -> None:
    chosen = choose(POOL, shard=3, count=4, replay=0.25, seed=0)
    assert set(chosen[:2]) == {"f1", "f2"} and chosen[2] == "u1"
    assert chosen[3] in {"o1", "o2"}


def test_old_frontier_fills_what_the_shard_cannot() -> None:
    chosen = choose(POOL, shard=3, count=9, replay=0.25, seed=0)
    assert set(chosen) == {"f1", "f2", "u1", "o1", "o2"}


def test_nothing_off_the_frontier_or_of_later_shards_is_played() -> None:
    for seed in range(20):
        chosen = set(choose(POOL, shard=3, count=9, replay=0.5, seed=seed))
        assert not chosen & {"m1", "h1", "p1", "o3", "n1"}


def test_the_choice_depends_on_its_seed_and_not_on_the_order_given() -> None:
    draws = [tuple(choose(POOL, shard=3, count=3, replay=0.4, seed=seed)) for seed in range(20)]
    assert len(set(draws)) > 2
    assert choose(POOL[::-1], shard=3, count=3, replay=0.4, seed=5) == list(draws[5])


def test_no_candidate_no_place() -> None:
    assert choose([], shard=3, count=4, replay=0.25, seed=0) == []
    assert choose(POOL, shard=3, count=0, replay=0.25, seed=0) == []


def test_instances_are_spread_evenly_and_bounded() -> None:
    assert instances([], groups=4, most=3) == []
    assert instances(["a", "b"], groups=3, most=3) == [("a", 0), ("a", 1), ("b", 0)]
    assert len(instances(["a", "b"], groups=12, most=3)) == 6
    assert instances(["a", "b", "c"], groups=2, most=3) == [("a", 0), ("b", 0)]
