import io
from collections.abc import Callable

import pytest
from rich.console import Console

from envgen.display import LINE_EVERY_S, Lines, Pace, shown
from envgen.overview import monitors, outside, stages
from envgen.progress import Meter, Progress
from spadekit.report import Report


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def meter(tell: Callable[[Progress], None], shard: int = 1) -> Meter:
    return Meter(tell, shard=shard, designs=4)


def round_of(tell: Callable[[Progress], None], shard: int = 1) -> None:
    """Four designs: one falls when it is read, one is a copy, two are measured."""
    steps = meter(tell, shard)
    steps.step("begun")
    for fell in ("read", "", "", ""):
        steps.step("designed", fell=fell, tokens=10)
    for fell in ("", "diversity", ""):
        steps.step("certified")
        steps.step("decided", fell=fell)
    for _ in range(2):
        steps.step("played", plays=1, tokens=5)
        steps.step("measured")
    steps.step("published")


def test_the_end_is_estimated_from_the_share_that_is_done() -> None:
    clock, heard = Clock(), list[Progress]()
    pace = Pace(2, clock)
    round_of(heard.append)
    shares = []
    for now in heard:
        pace.hear(now)
        shares.append(pace.done(now))
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 0.5)
    clock.now += 30
    assert pace.left_s(heard[-1]) == pytest.approx(30, abs=1)
    assert Pace(2, clock).left_s(heard[0]) is None


def test_time_that_killed_tries_took_counts_towards_the_pace() -> None:
    clock, heard = Clock(), list[Progress]()
    pace = Pace(1, clock)
    again = Meter(heard.append, shard=1, designs=1, spent_s=60.0)
    again.step("begun")
    again.step("designed")
    for now in heard:
        pace.hear(now)
    assert pace.left_s(heard[-1]) == pytest.approx(60.0, abs=1.0)


def test_where_nobody_watches_a_line_is_said_now_and_then() -> None:
    clock, said = Clock(), list[str]()
    lines = Lines(Pace(3, clock), said.append, clock)
    round_of(lines)
    assert said == []
    clock.now += LINE_EVERY_S
    round_of(lines, 2)
    (line,) = said
    assert line.startswith("round 2 (2 of 3): 0/4 designed, 0/0 measured; 0 plays")
    assert line.endswith("0 tokens; about 30 s left")


def test_a_terminal_gets_bars_with_funnel_rates_and_an_end() -> None:
    report, screen = Report(), io.StringIO()
    report.err = Console(file=screen, force_terminal=True, width=200)
    with shown(report, 1) as tell:
        round_of(tell, 7)
    drawn = screen.getvalue()
    for part in ("round 7: designs", "round 7: measured", "1 fell at diversity", "2 plays"):
        assert part in drawn


def test_the_tables_add_up_over_rounds_and_bear_shards_without_figures() -> None:
    figures = {"count": 1, "of": 4, "share": 0.25, "environments": ["a"]}
    nothing = {"count": 0, "of": 0, "share": None, "environments": []}
    names = ("no_tool_call", "one_turn", "garbage", "hint_only")
    watched = {"figures": dict.fromkeys(names, nothing) | {"garbage": figures}, "alarms": []}
    rounds = [
        {"admitted": 5, "refused_at": {"solvable": 2, "read": 1}, "monitors": watched},
        {"admitted": 3, "refused_at": {"solvable": 1}, "monitors": watched},
        {"admitted": 2, "refused_at": {}},
    ]
    assert stages(rounds) == [("read", 1, 13), ("solvable", 3, 10)]
    assert monitors(rounds) == [("wins by a reply that says nothing", 2, 8, "0.25")]
    assert outside({"seconds": {"total": 4.0, "forward": 3.0}}) == 0.25
    assert outside({"seconds": {"total": 0.0, "forward": 0.0}}) is None
