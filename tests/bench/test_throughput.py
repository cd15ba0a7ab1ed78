"""Throughput is measured for real, here with few repetitions."""

import importlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from bench import cli
from bench.config import HeldoutConfig, MemoryBenchConfig
from bench.throughput import Row, engine, footprint, memory, run, sandbox, soak
from bench.throughput.train import NoPeer
from sandbox import SandboxConfig
from solver.config import PolicyConfig
from spadekit.cli import Session
from spadekit.errors import OurFault
from spadekit.report import Report
from spadekit.settings import load

throughput = importlib.import_module("bench.throughput.run")  # the package has a function so named
LITTLE = (
    (sandbox, {"EPISODES": 2, "TOGETHER": 2, "TRIPS": 20, "BLOCK": 10, "COLD": 1}),
    (sandbox, {"OPENINGS": 4, "PEER_OPENINGS": 2}),
    (sandbox, {"OPEN": 3, "WAVE": 3, "WAVES": 1}),
    (footprint, {"JAILS": 1, "EPISODES": 2}),
)


def measure_little(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, counts in LITTLE:
        for name, few in counts.items():
            monkeypatch.setattr(module, name, few)


async def test_the_sandbox_is_measured_against_plain_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measure_little(monkeypatch)
    rows = await sandbox.measure(SandboxConfig())
    assert {row.unit for row in rows} == {"episodes/s", "steps/s", "us", "ms", "MiB"}
    assert all(row.value > 0 and row.ratio is not None and row.ratio > 0 for row in rows)


async def test_a_soak_with_hostile_environments_leaves_nothing_behind() -> None:
    rows = await soak.measure(SandboxConfig(pool_jails=4), 180, 40, 3)
    assert "40 environments, 2 hostile" in rows[-1].measure
    assert not soak.leaks(rows)
    state = {row.measure: row for row in rows}
    assert state["zombies"].value == 0
    assert state["processes"].value == 4
    assert 1 < state["jail memory"].value < 40


@pytest.mark.parametrize("what", ["memory", "descriptors"])
async def test_a_soak_sees_a_leak(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []
    ordinary = soak._round

    async def leaking(*given: Any) -> soak.State:
        kept.append(b"x" * 32_000_000 if what == "memory" else os.open(os.devnull, os.O_RDONLY))
        return await ordinary(*given)

    monkeypatch.setattr(soak, "_round", leaking)
    try:
        found = soak.leaks(await soak.measure(SandboxConfig(pool_jails=2), 12, 4, 3))
        # What other tests left in this process may still grow by a thread.
        grew = "host memory grew" if what == "memory" else "descriptors grew"
        assert [leak for leak in found if leak.startswith(grew)]
    finally:
        for one in kept:
            if isinstance(one, int):
                os.close(one)


def test_a_leak_is_what_grew_beyond_the_noise() -> None:
    quiet = soak.State(100.0, 7.0, 40, 4, 16, 0, 48)
    for grown, leak in (
        (replace(quiet, host_memory=102.9), 0),
        (replace(quiet, host_memory=103.1), 1),
        (replace(quiet, jail_memory=10.5), 1),
        (replace(quiet, zombies=1, threads=5), 2),
    ):
        states = [replace(quiet, host_memory=1.0), *[quiet] * 3, *[grown] * 3]
        assert len(soak.leaks(soak.compare(states, 1))) == leak


async def test_the_engine_is_measured_against_generate(
    monkeypatch: pytest.MonkeyPatch, model_folder: Path
) -> None:
    for name, few in (("BATCHES", (1, 3)), ("WAVES", 1), ("MAX_TOKENS", 6)):
        monkeypatch.setattr(engine, name, few)
    rows = await engine.measure(model_folder, PolicyConfig())
    assert [row.measure for row in rows] == ["sampling, batch 1", "sampling, batch 3"]
    assert all(row.value > 0 and row.ratio for row in rows)


def test_the_command_keeps_what_it_measured(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    schema: dict[str, type],
    capsys: pytest.CaptureFixture[str],
) -> None:
    measure_little(monkeypatch)
    (tmp_path / "recipe.toml").write_text("")
    settings = load(tmp_path / "recipe.toml", [], schema)
    run(Session(Report(as_json=True), settings, tmp_path), "sandbox")
    printed = json.loads(capsys.readouterr().out)
    [kept] = (tmp_path / "bench").glob("throughput-*.json")
    body = json.loads(kept.read_text())
    assert body["rows"] == printed
    assert body["machine"]["cores"] >= 1
    page = kept.with_suffix(".md").read_text()
    assert "**Sandbox, against a Python process per episode**" in page
    assert all(f"| {row['measure']} |" in page for row in printed)


ROW = Row(part="sandbox", measure="steps", value=2.0, unit="s", n=1, peer="bare", peer_value=4.0)


def test_alone_every_part_is_in_one_report(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    schema: dict[str, type],
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def stub(session: Session, part: str) -> list[Row]:
        if part == "train":
            raise NoPeer("TRL is not installed here")
        if part == "soak":
            raise OurFault("the sandbox fell over")
        return [replace(ROW, part=part)]

    monkeypatch.setattr(throughput, "measure", stub)
    (tmp_path / "recipe.toml").write_text("")
    session = Session(Report(), load(tmp_path / "recipe.toml", [], schema), tmp_path)
    # what was measured before the last part failed is kept; only a peer's absence is passed over
    with pytest.raises(OurFault, match="fell over"):
        run(session, None)
    [kept] = (tmp_path / "bench").glob("throughput-*.json")
    body = json.loads(kept.read_text())
    assert [row["part"] for row in body["rows"]] == [
        part for part in throughput.PARTS if part not in ("train", "soak")
    ]
    assert body["left_out"] == {"train": "TRL is not installed here"}
    assert "train was left out: TRL" in kept.with_suffix(".md").read_text()
    with pytest.raises(NoPeer):
        run(session, "train")
    capsys.readouterr()


def test_a_row_without_a_peer_has_no_ratio() -> None:
    assert Row(part="p", measure="m", value=2.0, unit="s", n=1).ratio is None
    with_peer = Row(part="p", measure="m", value=2.0, unit="s", n=1, peer="q", peer_value=4.0)
    assert with_peer.ratio == 0.5


def test_bench_alone_lists_what_can_be_measured() -> None:
    app = typer.Typer()
    cli.register(app)
    shown = CliRunner().invoke(app, ["bench"])
    assert shown.exit_code == 0
    names = [text.split()[2] for text in shown.output.splitlines()]
    assert {"throughput", "heldout", "ablation", "ladder"} <= set(names)
    for name in names:
        assert CliRunner().invoke(app, ["bench", name, "--help"]).exit_code == 0


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"path": ""}, "path is empty"),
        ({"plays": 0}, "at least 1"),
        ({"temperature": 0.0}, "above 0"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_turns": 0}, "max_turns"),
    ],
)
def test_senseless_settings_are_refused(values: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        HeldoutConfig(**values)


def test_the_memory_is_measured_in_little(tmp_path: Path) -> None:
    little = MemoryBenchConfig(
        environments=300, vectors=200, commits=2, writers=1, publications=1, kills=1
    )
    rows = memory.measure(little, tmp_path)
    by_measure = {row.measure: row for row in rows}
    assert by_measure["variants refused"].value >= 0.98
    assert by_measure["nearest of 300: recall@10"].value == 1.0
    assert by_measure["nearest of 200: recall@10"].value == 1.0
    assert by_measure["publish, shards of 5,000"].value > 0
    assert not list(tmp_path.iterdir())
