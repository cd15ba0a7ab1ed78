"""The report of a run, from a small store published through the real doors."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.commands import report
from bench.figures import RunFigures, flat, funnel, gather, known_runs
from bench.report import render, rounds_table
from bench.report_charts import stage_seconds
from memory import MemoryConfig, StandingRecord, Store
from solver.versions import Versions
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.report import Report
from spadekit.settings import load

HOSTILE = "<script>alert('x')</script>\u202e"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, make_run: Callable[..., None]) -> Path:
    folder = tmp_path_factory.mktemp("home")
    make_run(folder, "loop", 2, title=HOSTILE)
    return folder


@pytest.fixture(scope="module")
def figures(home: Path) -> RunFigures:
    with Store.open(home / "store", MemoryConfig()) as store:
        return gather(home, store, Versions(home / "policy"), "loop")


@pytest.fixture(scope="module")
def page(figures: RunFigures) -> str:
    return render(figures)


@pytest.fixture
def session(home: Path, tmp_path: Path, schema: dict[str, type]) -> Session:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("")
    return Session(Report(as_json=True), load(recipe, [], schema), home)


def test_the_figures_are_those_of_the_store(home: Path, figures: RunFigures) -> None:
    with Store.open(home / "store", MemoryConfig()) as store:
        shard = store.shard(1)
    first = figures.rounds[0]
    admitted = [one for one in shard.designs if one.outcome == "admitted"]
    returns = [one.return_unhinted for one in shard.standings]
    assert [one.round for one in figures.rounds] == [1, 2]
    assert (first.designs, first.admitted, first.policy_version) == (24, len(admitted), 0)
    assert first.return_unhinted.mean == pytest.approx(sum(returns) / len(returns))
    assert first.return_unhinted.clusters == len(returns)
    assert first.return_unhinted.n == 4 * len(returns)
    assert first.vendi_share is not None and 0 < first.vendi_share <= 1
    assert [one.version for one in figures.training] == [1, 2]
    assert [one.version for one in figures.heldout] == [0, 2]


def test_the_page_contains_the_figures(figures: RunFigures, page: str) -> None:
    for row in rounds_table(figures)["rows"]:
        for cell in row:
            assert f">{cell}</td>" in page
    change = figures.change["sampled"]
    assert f"{change.mean:+.3f}" in page
    assert "Gradient norm" in page and "Share of tokens clipped" in page
    assert "spadework report loop" in page


def test_a_hostile_title_is_text(page: str) -> None:
    assert "<script" not in page
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;\\u202e" in page


def test_the_page_needs_nothing_from_anywhere_else(page: str) -> None:
    assert "://" not in page
    assert not re.search(r"""\b(src|href|srcset|data|action)\s*=|@import|url\(""", page)
    assert len(page) < 1_500_000


def test_the_command_writes_the_page_and_prints_every_number(
    home: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    report(session, "loop", 0)
    printed = json.loads(capsys.readouterr().out)
    assert (home / "runs" / "loop" / "report.html").read_text().startswith("<!doctype html>")
    assert printed["page"].endswith("report.html")
    assert len(printed["rounds"]) == 2
    assert printed["heldout"][-1]["sampled"]["clusters"] == 64
    assert {"mean", "low", "high"} <= set(printed["change"]["greedy"])


def test_an_unknown_run_is_refused_with_the_runs_there_are(session: Session) -> None:
    with pytest.raises(BadInput, match=r"no run 'lop'.*: loop"):
        report(session, "lop", 0)
    with pytest.raises(BadInput, match="letters"):
        report(session, "../loop", 0)


def test_a_run_without_a_finished_round_says_so(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", MemoryConfig(), create=True) as store:
        (tmp_path / "runs" / "new").mkdir(parents=True)
        (tmp_path / "runs" / "new" / "run.json").write_text("{}")
        assert known_runs(tmp_path, store.shards()) == ["new"]
        with pytest.raises(BadInput, match="not finished a round"):
            gather(tmp_path, store, Versions(tmp_path / "policy"), "new")


def test_designs_without_training_or_held_out_results_make_a_page(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", MemoryConfig(), create=True) as store:
        store.publish(1, [], [], [], [], meta={"run": "bare", "policy_version": 0})
        empty = gather(tmp_path, store, Versions(tmp_path / "policy"), "bare")
    page = render(empty)
    assert "Nothing measured." in page
    assert "--heldout-every 5" in page


def test_the_funnel_follows_the_way_of_a_design(figures: RunFigures) -> None:
    table = funnel(figures.rounds)
    stages = [stage for stage, _, _ in table]
    assert stages == sorted(
        stages, key="read contract solvable nontrivial hint diversity probe".index
    )
    assert table[-1][2] == sum(one.admitted for one in figures.rounds)


def test_the_parts_of_a_round_add_up_to_its_time(figures: RunFigures) -> None:
    parts = stage_seconds(figures.rounds, {one.shard: one for one in figures.training})
    first = figures.rounds[0]
    assert sum(values[0] for values in parts.values()) == pytest.approx(
        first.seconds["total"] + 6.5
    )
    assert all(value >= 0 for values in parts.values() for value in values)


def test_nested_metrics_become_dotted_names() -> None:
    nested = {"solver": {"loss": 1, "name": "x"}, "on": True, "seconds": {"total": 2.5}}
    assert flat(nested) == {"solver.loss": 1.0, "seconds.total": 2.5}


def test_an_environment_whose_hinted_plays_all_faulted_is_left_out_of_the_regret(
    tmp_path: Path,
) -> None:
    half = StandingRecord(
        environment="a",
        policy_version=0,
        plays_unhinted=4,
        plays_hinted=0,
        return_unhinted=0.5,
        return_hinted=math.nan,
        regret=math.nan,
        regret_low=math.nan,
        regret_high=math.nan,
        status="unmeasured",
        hint_only=False,
        updated=1,
    )
    with Store.open(tmp_path / "store", MemoryConfig(), create=True) as store:
        store.publish(1, [], [], [], [half], meta={"run": "half", "policy_version": 0})
        figures = gather(tmp_path, store, Versions(tmp_path / "policy"), "half")
    [found] = figures.rounds
    assert (found.return_unhinted.mean, found.return_unhinted.n) == (0.5, 4)
    assert (found.regret.mean, found.regret.clusters) == (None, 0)
    assert render(figures)
