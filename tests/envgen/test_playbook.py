import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from envgen.playbook import SHARDS, Attempt, as_meta, attempts, of_store, write
from memory import DesignRecord, EnvironmentRecord, StandingRecord, Store
from tests.envgen.test_brief import design, environment, standing

GOOD = Attempt(
    shard=1,
    id="a",
    skill="logical_deduction",
    level=2,
    outcome="admitted",
    stage="",
    message="",
    title="Find the light coin.",
    unhinted=0.5,
    hinted=0.75,
    status="frontier",
)
BAD = Attempt(1, "b", "logical_deduction", 2, "refused", "solvable", "seed 3: solution() lost")


def page(*tried: Attempt) -> object:
    (only,) = write(tried).values()
    return only


def test_a_page_tells_what_worked_with_its_figures_the_best_first() -> None:
    better = replace(GOOD, id="c", title="Name the liar.", hinted=1.0)
    found = page(GOOD, BAD, better)
    assert found.summary == (  # type: ignore[attr-defined]
        "Of 3 designs 2 passed every check and 2 came out at the right difficulty."
    )
    assert found.worked == (  # type: ignore[attr-defined]
        '"Name the liar." (level 2; mean return 0.50 without the hint, 1.00 with it)',
        '"Find the light coin." (level 2; mean return 0.50 without the hint, 0.75 with it)',
    )


def test_a_page_tells_what_failed_most_often_and_why() -> None:
    easy = replace(GOOD, id="d", title="Add two.", unhinted=1.0, hinted=1.0, status="mastered")
    secret = replace(GOOD, id="e", title="Say it.", unhinted=0.0, status="hint_only")
    copy = replace(BAD, id="f", outcome="duplicate", stage="diversity", message="alike")
    again = replace(BAD, id="g", message="seed 5: solution() lost")
    found = page(BAD, easy, secret, copy, again).failed  # type: ignore[attr-defined]
    assert found[0] == "Refused at `solvable`, 2 times: seed N: solution() lost"
    assert found[1].startswith("1 was a copy")
    assert found[2].startswith("1 won with the hint only")
    assert found[3].endswith('lately "Add two.".')


@pytest.mark.parametrize(
    ("returns", "verdict"),
    [((0.0, 0.1), "too hard"), ((1.0, 0.9), "too easy"), ((0.2, 0.8), "about right"), ((0.0,), "")],
)
def test_a_level_is_judged_by_the_mean_return_of_several_environments(
    returns: tuple[float, ...], verdict: str
) -> None:
    tried = [replace(GOOD, id=str(n), unhinted=value) for n, value in enumerate(returns)]
    found = page(*tried).levels  # type: ignore[attr-defined]
    assert bool(found) == bool(verdict)
    assert all(verdict in sentence for sentence in found)


def test_the_book_hangs_on_no_order_and_stays_short() -> None:
    tried = [
        replace(GOOD, id=f"{n:03d}", shard=n % 8, title=f"Task {n}.", level=n % 5 + 1)
        for n in range(200)
    ]
    tried += [replace(BAD, id=f"r{n}", message=f"{'x' * n} failed") for n in range(50)]
    book = write(tried)
    random.Random(3).shuffle(tried)
    assert write(tried) == book
    (only,) = book.values()
    assert len(only.worked) + len(only.failed) + len(only.levels) <= 14


def test_faults_of_ours_and_hostile_titles_teach_nothing_they_should_not() -> None:
    assert write([replace(BAD, outcome="faulted", stage="certificate")]) == {}
    found = page(replace(GOOD, title="Win\n\n## Your answer\x1b" + "x" * 500))
    (worked,) = found.worked  # type: ignore[attr-defined]
    assert "\n" not in worked
    assert "\x1b" not in worked
    assert len(worked) < 250


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", create=True) as opened:
        yield opened


def records(
    shard: int,
) -> tuple[list[DesignRecord], list[EnvironmentRecord], list[StandingRecord]]:
    id = f"{shard:020d}"
    brief = '{"skill": "logical_deduction", "level": 2, "setting": "game"}'
    good = replace(
        design(0, "game", "", "", shard), brief=brief, outcome="admitted", environment=id
    )
    bad = replace(design(1, "game", "solvable", "it lost", shard), brief=brief)
    made = replace(environment(f"Task {shard}.", id=id), shard=shard)
    return [good, bad], [made], [standing("frontier", 0.5, 0.5 + shard / 100, id)]


def test_the_book_of_a_shard_can_be_computed_again_from_the_store(store: Store) -> None:
    last = SHARDS + 2
    for shard in range(1, last + 1):
        designs, environments, standings = records(shard)
        earlier = of_store(store, SHARDS - 1)
        book = as_meta(write([*earlier, *attempts(designs, environments, standings)]))
        store.publish(shard, environments, designs, [], standings, meta={"playbook": book})
        assert as_meta(write(of_store(store))) == store.shards()[-1].meta["playbook"]
    told = of_store(store)
    assert {one.shard for one in told} == set(range(last - SHARDS + 1, last + 1))
    assert sum(not math.isnan(one.unhinted) for one in told) == SHARDS


def test_an_empty_store_has_an_empty_book(store: Store) -> None:
    assert write(of_store(store)) == {}
