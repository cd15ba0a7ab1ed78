"""The report of a run, from a small store published through the real doors."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bench.breakdown import funnel, round_seconds, stage_shares, step_seconds
from bench.commands import report
from bench.figures import RunFigures, gather, known_runs
from bench.report import MOST_ROWS, render, rounds_table, versions_table
from envgen.summary import summarise
from memory import Manifest, MemoryConfig, Store
from memory.variety import Variety
from solver.curves import of_round
from solver.versions import Versions
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.report import Report
from spadekit.settings import load
from tests import records

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
    for table in (rounds_table(figures), versions_table(figures)):
        for row in table["rows"]:
            for cell in row:
                assert f">{cell}</td>" in page
    change = figures.change["sampled"]
    assert f"{change.mean:+.3f}" in page
    assert "spadework report loop" in page


@pytest.mark.parametrize(
    "title",
    [
        *("Held-out return", "Solver: return on each round's new environments"),
        *("Designer: regret of each round's new environments", "Return and reward in training"),
        *("Where designs end", "Learnable share", "Diversity: Vendi score / n"),
        *("Environments by regret", "Groups with an advantage", "Entropy", "Gradient norm"),
        *("Tokens out of the clipping bounds", "KL to the policy that sampled"),
        *("Importance weights truncated", "Staleness", "Length of a sample", "Samples cut short"),
        *("Tokens sampled", "Faults in generation", "Faults in training plays"),
        *("Seconds of a round", "Seconds of a training step", "Monitors for reward hacks"),
    ],
)
def test_there_is_a_chart_of(title: str, page: str) -> None:
    assert f"<figcaption>{title.replace(chr(39), '&#39;')}</figcaption>" in page


def test_a_metric_that_nobody_knows_yet_has_a_chart_of_its_own(page: str) -> None:
    assert "<figcaption>positions</figcaption>" in page
    assert page.count("<figcaption>Entropy</figcaption>") == 1
    assert "<figcaption>entropy</figcaption>" not in page


def test_a_hostile_title_is_text(page: str) -> None:
    assert "<script" not in page
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;\\u202e" in page


def test_the_page_needs_nothing_from_anywhere_else(page: str) -> None:
    assert "://" not in page
    assert not re.search(r"""\b(src|srcset|data|action)\s*=|@import|url\(""", page)
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', page))
    assert set(re.findall(r'href="#(\w+)"', page)) <= set(re.findall(r'id="(\w+)"', page))
    assert len(page.encode()) < 250_000


def test_what_scrolls_can_be_reached_by_the_keyboard(page: str) -> None:
    assert page.count('<div class="scroll') == page.count('tabindex="0" role="region"')
    assert "<pre>" not in page


def test_a_run_of_four_hundred_rounds_is_a_page_of_less_than_a_megabyte(
    figures: RunFigures,
) -> None:
    rounds = [replace(figures.rounds[n % 2], round=n + 1) for n in range(400)]
    training = [replace(figures.training[n % 2], version=n + 1, shard=n + 1) for n in range(400)]
    made = [replace(figures.versions[1], version=n, shard=n or None) for n in range(401)]
    long = replace(figures, rounds=tuple(rounds), training=tuple(training), versions=tuple(made))
    page = render(long)
    assert len(page.encode()) < 1_000_000
    assert "Every 7th of them" in page
    assert page.count("<tr>") < 5 * MOST_ROWS


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


def test_the_parts_of_a_round_and_of_a_step_add_up_to_its_time(figures: RunFigures) -> None:
    parts = round_seconds(figures.rounds)
    first = figures.rounds[0]
    assert sum(values[0] for values in parts.values()) == pytest.approx(first.seconds["total"])
    steps = step_seconds(figures.training)
    assert sum(values[0] for values in steps.values()) == pytest.approx(6.5)
    assert all(value >= 0 for values in [*parts.values(), *steps.values()] for value in values)


def test_every_design_ends_somewhere(figures: RunFigures) -> None:
    shares = stage_shares(figures.rounds)
    assert next(iter(shares)) == "admitted" and list(shares)[-1] == "read"
    assert [sum(column) for column in zip(*shares.values(), strict=True)] == pytest.approx([1, 1])


def test_a_round_has_the_documented_names() -> None:
    meta = dict.fromkeys(summarise([], [], []), 1) | {
        "refused_at": {"solvable": 1},
        "variety": asdict(Variety(0.5, 0.1, 0.2, False)),
        "monitors": {"figures": {"garbage": {"count": 1, "of": 2, "share": 0.5}}},
        "seconds": dict.fromkeys(("design", "certify", "probe", "total", "forward"), 1.0),
        "seed": 0,
        "round": 1,
    }
    head = Manifest(1, "", 0, "", "2026-01-01T00:00:00+00:00", {}, meta, "")
    text = (Path(__file__).parents[2] / "docs" / "curves.md").read_text()
    part = text.split("## Rounds\n")[1].split("\n## ")[0]
    cells = [row.split("|")[1] for row in part.splitlines() if row.startswith("| `")]
    told = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    named = {name.replace("STAGE", "solvable").replace("NAME", "garbage") for name in told}
    assert named - set(of_round(head).values) == set()


def test_a_run_of_two_processes_has_versions_that_are_no_rounds(
    tmp_path: Path, make_run: Callable[..., None]
) -> None:
    make_run(tmp_path, "side", 3, trained_on=(1, 1, 2, 2), heldout=False)
    with Store.open(tmp_path / "store", MemoryConfig()) as store:
        figures = gather(tmp_path, store, Versions(tmp_path / "policy"), "side")
    assert [(one.version, one.shard, one.rounds) for one in figures.versions] == [
        *[(0, None, (1,)), (1, 1, (2,)), (2, 1, (3,)), (3, 2, ()), (4, 2, ())]
    ]
    page = render(figures)
    # Version 2 was trained on shard 1, and round 3 was designed with it.
    assert "<td>2</td><td>1</td><td>1</td><td>12</td>" in page
    assert page.count("<figcaption>Seconds of a training step</figcaption>") == 1


def test_a_run_without_training_has_a_page_without_those_charts(
    tmp_path: Path, make_run: Callable[..., None]
) -> None:
    make_run(tmp_path, "bare", 2, trained_on=(), heldout=False)
    with Store.open(tmp_path / "store", MemoryConfig()) as store:
        page = render(gather(tmp_path, store, Versions(tmp_path / "policy"), "bare"))
    assert "None was trained on shards of" in page
    assert "Gradient norm" not in page and 'href="#training"' not in page
    assert "Designer: regret of each round" in page


def test_an_environment_whose_hinted_plays_all_faulted_is_left_out_of_the_regret(
    tmp_path: Path,
) -> None:
    half = records.standing(
        "a", hinted=math.nan, plays_unhinted=4, plays_hinted=0, status="unmeasured"
    )
    with Store.open(tmp_path / "store", MemoryConfig(), create=True) as store:
        store.publish(1, [], [], [], [half], meta={"run": "half", "policy_version": 0})
        figures = gather(tmp_path, store, Versions(tmp_path / "policy"), "half")
    [found] = figures.rounds
    assert (found.return_unhinted.mean, found.return_unhinted.n) == (0.5, 4)
    assert (found.regret.mean, found.regret.clusters) == (None, 0)
    assert render(figures)
