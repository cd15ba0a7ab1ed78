from spadekit.seeds import derive


def test_seeds_depend_on_every_part_and_on_where_it_ends() -> None:
    seeds = {
        derive(0, "a", 1),
        derive(0, "a", 2),
        derive(1, "a", 1),
        derive(0, "a1"),
        derive(0, "a"),
    }
    assert len(seeds) == 5
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert derive(0, "a", 1) == derive(0, "a", 1)
