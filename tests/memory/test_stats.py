"""The figures of a store are counted from its tables, and a collapsed shard raises the alarm."""

import math

from memory.stats import BINS, histogram


def test_figures_of_a_store(full):
    found = full.stats()
    assert found.environments == 10
    assert found.skills["optimisation"] == {"frontier": 1}
    assert found.skills["data_retrieval"] == {"unmeasured": 1}
    assert sum(found.regret) == 5
    (shard,) = found.shards
    assert (shard.environments, shard.designs, shard.plays) == (10, 3, 4)
    assert shard.mean_regret == (0.25 + 0.0 + 0.1 + 0.5 + 0.05) / 5
    assert 0.5 < shard.vendi_share <= 1.0
    assert found.funnel == {("refused", "solvable", "certificate"): 3}
    assert found.alarms == ()


def test_a_shard_of_one_idea_raises_the_alarm(store, make):
    same = {"title": "Again.", "description": "The same once more.", "skills": ("optimisation",)}
    store.publish(1, [make.environment(n, **same) for n in range(12)], [], [], [], meta={})
    (alarm,) = store.stats().alarms
    assert "shard 1 has collapsed: 12 environments count as 1.0" in alarm


def test_an_empty_store_and_an_empty_shard_have_figures(store):
    assert store.stats().shards == ()
    store.publish(1, [], [], [], [], meta={})
    (shard,) = store.stats().shards
    assert shard.vendi_share is None
    assert not shard.collapsed


def test_the_histogram_counts_edges_outliers_and_not_nan():
    assert sum(histogram([])) == 0
    assert sum(histogram([math.nan])) == 0
    counts = histogram([-9.0, -0.5, 0.0, 0.05, 0.1, 1.0, 9.0])
    assert counts[0] == 2
    assert counts[BINS.index(0.0)] == 2
    assert counts[BINS.index(0.1)] == 1
    assert counts[-1] == 2
