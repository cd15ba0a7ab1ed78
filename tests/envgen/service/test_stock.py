"""The stock's rules: pure, as tables."""

import math
import time

import pytest

from envgen.service.config import ServiceConfig
from envgen.service.jobs import Job
from envgen.service.keeper import Keeper, Wanted
from envgen.service.stock import (
    MOST_AT_ONCE,
    Action,
    Design,
    Measure,
    Rest,
    Stock,
    next_action,
    pause_s,
    take_stock,
    target_version,
)
from memory import StandingRecord
from memory.search import Latest
from spadekit.errors import BadInput


def standing(name: str, version: int, status: str, mean: float = 0.5) -> StandingRecord:
    return StandingRecord(name, version, 8, 8, mean, 0.9, 0.4, 0.1, 0.7, status, False, 1)


def test_only_environments_at_the_frontier_of_the_version_are_held_those_of_older_ones_are_stale() -> (
    None
):
    rows = [
        standing("a", 3, "frontier"),
        standing("b", 3, "mastered"),
        standing("c", 2, "frontier", 0.2),
        standing("d", 2, "frontier", 0.4),
        standing("e", 1, "frontier"),
        standing("f", 4, "frontier"),
        standing("g", 2, "hopeless", math.nan),
    ]
    assert take_stock(rows, 3) == Stock(3, 1, ("d", "c", "e"))
    assert take_stock([], 3) == Stock(3, 0, ())


MANY = tuple(f"{n:03d}" for n in range(100))


@pytest.mark.parametrize(
    ("stock", "level", "barren", "action"),
    [
        (Stock(1, 0, ()), 0, 0, Rest("full")),
        (Stock(1, 48, ("a",)), 48, 0, Rest("full")),
        (Stock(1, 60, ()), 48, 9, Rest("full")),
        (Stock(1, 46, ("a", "b", "c")), 48, 0, Measure(("a", "b"))),
        (Stock(1, 40, ("a", "b", "c")), 48, 9, Measure(("a", "b", "c"))),
        (Stock(1, 0, MANY), 99, 0, Measure(MANY[:MOST_AT_ONCE])),
        (Stock(1, 47, ()), 48, 0, Design()),
        (Stock(1, 47, ()), 48, 3, Design()),
        (Stock(1, 47, ()), 48, 4, Rest("barren")),
    ],
)
def test_measuring_comes_before_designing_and_designing_ends_when_it_adds_nothing(
    stock: Stock, level: int, barren: int, action: Action
) -> None:
    assert next_action(stock, level=level, barren_rounds=barren, most_barren=4) == action


def test_the_pause_after_failures_doubles_up_to_an_hour() -> None:
    assert [pause_s(n, 30.0) for n in (0, 1, 2, 3, 8, 500)] == [0, 30, 60, 120, 3600, 3600]


@pytest.mark.parametrize(
    ("newest", "every", "pinned", "target"),
    [(0, 1, None, 0), (7, 1, None, 7), (7, 3, None, 6), (7, 3, 1, 1), (7, 1, 0, 0)],
)
def test_the_pinned_version_serves_else_the_newest_of_the_schedule(
    newest: int, every: int, pinned: int | None, target: int
) -> None:
    assert target_version(newest, every, pinned) == target


class Figures:
    """What the keeper asks of a store: the newest standings, another object when they change."""

    def __init__(self) -> None:
        self.set()

    def set(self, *rows: StandingRecord) -> None:
        self.latest = Latest({one.environment: one for one in rows})

    def latest_standings(self, version: int | None = None) -> Latest:
        if version is None:
            return self.latest
        return Latest({k: v for k, v in self.latest.items() if v.policy_version <= version})


def ended(state: str) -> Job:
    return Job("j000001", "generate", "stock", "", state=state, message="the disk is full")  # type: ignore[arg-type]


def test_rounds_that_add_nothing_are_counted_until_one_does_or_another_version_serves() -> None:
    keeper, store = Keeper(ServiceConfig(stock=2, barren=2)), Figures()
    asked = []
    for rows in ([], [], [standing("a", 0, "frontier")], None, None):
        if rows is not None:
            store.set(*rows)
        asked.append((keeper.next(store, 0), keeper.status.barren_rounds))  # type: ignore[arg-type]
        keeper.ended(ended("done"))
    design = Wanted("generate", {"rounds": 1})
    assert asked == [(design, 0), (design, 1), (design, 0), (design, 1), (None, 2)]
    assert keeper.status.doing == "barren"
    store.set()
    assert keeper.next(store, 1) == design  # type: ignore[arg-type]
    assert keeper.status.barren_rounds == 0


def test_nothing_is_designed_while_a_trainer_has_to_come_nearer() -> None:
    keeper, store = Keeper(ServiceConfig(stock=2, barren=2)), Figures()
    for _ in range(3):
        assert keeper.next(store, 0, lambda: True) is None  # type: ignore[arg-type]
    assert (keeper.status.doing, keeper.status.barren_rounds) == ("ahead", 0)
    assert keeper.next(store, 0) is not None  # type: ignore[arg-type]
    store.set(standing("a", 0, "frontier"))
    keeper.ended(ended("done"))
    measure = keeper.next(store, 1, lambda: True)  # type: ignore[arg-type]
    assert measure is not None
    assert measure.kind == "measure"


def test_after_a_failure_the_keeper_waits_and_says_why() -> None:
    keeper, store = Keeper(ServiceConfig(stock=2, retry_s=0.001)), Figures()
    keeper.next(store, 0)  # type: ignore[arg-type]
    keeper.ended(ended("failed"))
    assert (keeper.status.doing, keeper.status.problem) == ("waiting", "the disk is full")
    patient = Keeper(ServiceConfig(stock=2, retry_s=60))
    patient.next(store, 0)  # type: ignore[arg-type]
    patient.ended(ended("cancelled"))
    assert patient.next(store, 0) is None  # type: ignore[arg-type]


def test_a_store_that_cannot_be_asked_how_far_it_is_ahead_is_waited_for() -> None:
    def ahead() -> bool:
        raise BadInput("s3://bucket: it cannot be reached")

    keeper, store = Keeper(ServiceConfig(stock=2, retry_s=0.001)), Figures()
    assert keeper.next(store, 0, ahead) is None  # type: ignore[arg-type]
    assert keeper.status.doing == "waiting"
    assert keeper.status.problem == "s3://bucket: it cannot be reached"
    time.sleep(0.002)
    assert keeper.next(store, 0) is not None  # type: ignore[arg-type]


def test_a_stock_of_none_asks_for_nothing() -> None:
    keeper = Keeper(ServiceConfig(stock=0))
    assert keeper.next(Figures(), 0) is None  # type: ignore[arg-type]
    assert keeper.status.doing == "off"
