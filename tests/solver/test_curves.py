"""The curves of a run: names, files that are only appended to, steps that are never lost or repeated."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from memory import Manifest
from solver import curves
from solver.metrics import PlayMetrics, RoleMetrics, Seconds, StepMetrics
from solver.versions import INFO, PolicyInfo, Versions
from spadekit.files import write_json

META = {
    "run": "main",
    "seed": 7,
    "round": 1,
    "designs": 24,
    "regret": 0.25,
    "learnable": None,
    "designer_reward": 0.5,
    "return_hinted": 0.75,
    "plays": 96,
    "faulted_plays": 2,
    "tokens": 1_000,
    "refused_at": {"solvable": 3},
    "variety": {"vendi_share": 0.5, "collapsed": False},
    "monitors": {"figures": {"garbage": {"count": 0, "of": 4, "share": 0.0}}, "alarms": []},
    "averages": {"memory": [0.1, 0.2]},
    "drawn": {"games": 4},
    "seconds": {"total": 9.5},
}
METRICS = {
    "version": 1,
    "parent": 0,
    "shard": 1,
    "plays": {"count": 64, "turns": 3.5},
    "solver": {"reward": 0.5, "grad_norm": 0.5, "dropped": {"too old": 2}, "importance": None},
    "designer": {"reward": 0.25, "some": {"new": {"figure": 3}}},
    "seconds": {"play": 2.5},
}


def manifest(shard: int, **meta: Any) -> Manifest:
    created = f"2026-01-01T00:00:{shard:02d}+00:00"
    return Manifest(shard, "", shard - 1, "", created, {}, {**META, **meta}, "")


def grow(home: Path, version: int) -> Versions:
    """Publish versions up to ``version``, version 0 without metrics."""
    versions = Versions(home / "policy")
    for number in range(version + 1):
        if not versions.has(number):
            metrics = {**METRICS, "version": number} if number else {}
            info = PolicyInfo(
                number, number - 1 if number else None, number, number or None, "", {}, metrics
            )
            folder = versions.path(number)
            folder.mkdir(parents=True)
            write_json(folder / INFO, asdict(info))
    return versions


def update(home: Path, rounds: int, versions: int) -> list[str]:
    notes: list[str] = []
    made = [manifest(one) for one in range(1, rounds + 1)]
    curves.update(home, made, grow(home, versions), notes.append)
    return notes


def lines(home: Path, kind: str) -> list[int]:
    found = (home / "runs" / "main" / "curves.jsonl").read_text().splitlines()
    return [one["step"] for one in map(json.loads, found) if one["kind"] == kind]


def events(home: Path, kind: str, tag: str) -> list[tuple[int, float]]:
    """Read a curve back with TensorBoard's own reader."""
    reader = EventAccumulator(str(home / "runs" / "main" / "tensorboard" / kind))
    reader.Reload()
    return [(one.step, one.value) for one in reader.Scalars(tag)]


def test_a_round_s_figures_have_the_names_of_the_roles() -> None:
    assert curves.of_round(manifest(1)).values == {
        "round/policy_version": 0.0,
        "designer/designs": 24.0,
        "designer/regret": 0.25,
        "designer/reward": 0.5,
        "solver/return_hinted": 0.75,
        "solver/plays": 96.0,
        "solver/faulted": 2.0,
        "round/tokens": 1_000.0,
        "designer/refused_at/solvable": 3.0,
        "designer/vendi_share": 0.5,
        "designer/monitors/garbage": 0.0,
        "round/seconds/total": 9.5,
    }


def test_a_version_s_metrics_keep_their_paths_and_new_ones_appear_by_themselves() -> None:
    info = PolicyInfo(1, 0, 1, 1, "", {}, METRICS)
    assert curves.of_version(info, 0.0).values == {
        "train/parent": 0.0,
        "train/shard": 1.0,
        "solver/plays": 64.0,
        "solver/return": 0.5,
        "solver/turns": 3.5,
        "solver/grad_norm": 0.5,
        "solver/dropped/too_old": 2.0,
        "designer/reward": 0.25,
        "designer/some/new/figure": 3.0,
        "train/seconds/play": 2.5,
    }


def documented(heading: str) -> set[str]:
    """Names in a table of docs/curves.md, for a role and without those that end in a word to fill in."""
    text = (Path(__file__).parents[2] / "docs" / "curves.md").read_text()
    part = text.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [row.split("|")[1] for row in part.splitlines() if row.startswith("| `")]
    names = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    named = {name.replace("ROLE/", f"{role}/") for name in names for role in ("solver", "designer")}
    return {name for name in named if not name.rpartition("/")[2].isupper()}


def test_a_version_has_the_documented_names() -> None:
    role = {one.name: 1 for one in fields(RoleMetrics)} | {"dropped": {}}
    plays = {one.name: 1 for one in fields(PlayMetrics)}
    seconds = {one.name: 1 for one in fields(Seconds)}
    metrics = {one.name: 1 for one in fields(StepMetrics)}
    metrics |= {"plays": plays, "solver": role, "designer": role, "seconds": seconds}
    found = curves.of_version(PolicyInfo(1, 0, 1, 1, "", {}, metrics), 0.0)
    assert documented("Policy versions") - set(found.values) == set()


def test_what_is_no_finite_number_is_a_gap() -> None:
    odd = {"a": float("nan"), "b": float("inf"), "c": True, "d": "x", "e": None, "f": [1], "g": 2}
    assert dict(curves.flat(odd)) == {"g": 2.0}


def test_events_are_what_tensorboard_reads_back(tmp_path: Path) -> None:
    update(tmp_path, 2, 3)
    assert events(tmp_path, "rounds", "designer/regret") == [(1, 0.25), (2, 0.25)]
    assert events(tmp_path, "versions", "solver/return") == [(1, 0.5), (2, 0.5), (3, 0.5)]
    assert events(tmp_path, "versions", "designer/some/new/figure")[0] == (1, 3.0)
    assert (lines(tmp_path, "round"), lines(tmp_path, "version")) == ([1, 2], [1, 2, 3])


def test_a_resumed_run_only_appends_and_repeats_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "main"
    update(tmp_path, 1, 1)
    files = [one for one in folder.rglob("*") if one.is_file()]
    before = {one: one.read_bytes() for one in files}
    update(tmp_path, 1, 1)
    assert {one: one.read_bytes() for one in files} == before
    update(tmp_path, 3, 2)
    assert [one for one in folder.rglob("*") if one.is_file()] == files
    assert all(one.read_bytes().startswith(data) for one, data in before.items())
    assert lines(tmp_path, "round") == [1, 2, 3]
    assert [step for step, _ in events(tmp_path, "versions", "solver/return")] == [1, 2]


@pytest.mark.parametrize("left", [1, 7, 30, 200])
def test_a_step_that_a_kill_tore_is_written_again(tmp_path: Path, left: int) -> None:
    update(tmp_path, 2, 2)
    folder = tmp_path / "runs" / "main"
    files = [folder / "curves.jsonl", *folder.rglob("events.out.*")]
    whole = {one: one.read_bytes() for one in files}
    update(tmp_path, 3, 3)
    for one in files:
        torn = one.read_bytes()[: len(whole[one]) + left]
        one.write_bytes(torn)
    update(tmp_path, 3, 3)
    assert lines(tmp_path, "version") == [1, 2, 3] and sorted(lines(tmp_path, "round")) == [1, 2, 3]
    assert [step for step, _ in events(tmp_path, "rounds", "solver/plays")] == [1, 2, 3]
    assert [step for step, _ in events(tmp_path, "versions", "solver/plays")] == [1, 2, 3]


def test_a_tail_of_zeros_as_a_power_cut_leaves_it_is_written_over(tmp_path: Path) -> None:
    update(tmp_path, 1, 1)
    [file] = (tmp_path / "runs" / "main" / "tensorboard" / "versions").iterdir()
    file.write_bytes(file.read_bytes() + bytes(64))
    update(tmp_path, 1, 2)
    assert [step for step, _ in events(tmp_path, "versions", "solver/return")] == [1, 2]


def test_two_processes_side_by_side_write_every_step_once(tmp_path: Path) -> None:
    grow(tmp_path, 6)
    with ThreadPoolExecutor(4) as pool:
        for told in pool.map(lambda n: update(tmp_path, n, 6), [1, 2, 3, 4] * 4):
            assert told == []
    assert sorted(lines(tmp_path, "round")) == [1, 2, 3, 4]
    assert lines(tmp_path, "version") == [1, 2, 3, 4, 5, 6]
    assert sorted(step for step, _ in events(tmp_path, "rounds", "solver/plays")) == [1, 2, 3, 4]


def test_without_tensorboard_it_says_so_once_and_the_events_are_made_up_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(curves, "find_spec", lambda _: None)
        [note] = update(tmp_path, 1, 1)
        assert ".[tensorboard]" in note
        assert update(tmp_path, 2, 2) == []
    assert not (tmp_path / "runs" / "main" / "tensorboard").exists()
    update(tmp_path, 3, 2)
    assert [step for step, _ in events(tmp_path, "rounds", "designer/regret")] == [1, 2, 3]


def test_imported_pools_are_no_rounds(tmp_path: Path) -> None:
    made = [manifest(1, origin="import"), manifest(2, run="other")]
    curves.update(tmp_path, made, grow(tmp_path, 0), lambda _: None)
    [line] = (tmp_path / "runs" / "other" / "curves.jsonl").read_text().splitlines()
    assert json.loads(line)["step"] == 2


def test_a_run_does_not_stop_for_its_curves(tmp_path: Path) -> None:
    file = tmp_path / "runs" / "main" / "curves.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("[1]\n")
    [note] = update(tmp_path, 1, 1)
    assert f"{file}: line 1" in note and "remove it" in note
    file.unlink()
    file.mkdir()
    [note] = update(tmp_path, 1, 1)
    assert "cannot be written" in note
