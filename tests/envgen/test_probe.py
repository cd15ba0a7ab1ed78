from collections import Counter

from envgen.probe import schedule


def test_both_arms_play_the_same_seeds_once_each() -> None:
    trials = schedule(8, seed=0, environment="e")
    seeds = {trial.seed for trial in trials}
    assert len(trials) == 16 and len(seeds) == 8
    assert Counter((t.seed, t.arm) for t in trials) == Counter(
        (seed, arm) for seed in seeds for arm in ("unhinted", "hinted")
    )


def test_the_order_hides_the_arms_and_is_drawn_for_each_environment() -> None:
    orders = [[t.arm for t in schedule(8, seed=0, environment=str(i))] for i in range(400)]
    assert len(set(map(tuple, orders))) > 300
    for position in range(16):
        hinted = sum(order[position] == "hinted" for order in orders)
        assert 150 < hinted < 250


def test_a_schedule_is_a_function_of_its_seed() -> None:
    assert schedule(4, seed=1, environment="e") == schedule(4, seed=1, environment="e")
    assert schedule(4, seed=1, environment="e") != schedule(4, seed=2, environment="e")
