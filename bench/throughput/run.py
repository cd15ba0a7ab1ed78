"""Run the chosen measurements, keep them as JSON with the machine, and print the table."""

import asyncio
import datetime as dt
import itertools
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from bench.config import MemoryBenchConfig
from bench.machine import load_average, machine
from bench.throughput import certificate, engine, memory, probe, sandbox, soak, train
from bench.throughput.row import Row
from envgen.config import ProducerConfig
from sandbox import SandboxConfig
from solver.config import PolicyConfig, TrainConfig
from solver.versions import Versions
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.files import write_json


def run(session: Session, only: str | None) -> None:
    """Measure everything, or the part that ``only`` names, and report it; exit 1 for a leak."""
    load = load_average()
    rows = asyncio.run(measure(session, only))
    path = save(session, rows, load)
    leaks = soak.leaks(rows)
    if session.report.as_json:
        session.report.data([{**asdict(row), "ratio": row.ratio} for row in rows])
    else:
        _show(session, rows)
        for leak in leaks:
            session.report.text(f"A leak: {leak}.")
    session.report.note(
        f"{machine()['cores']} cores, load {load} when it began; kept in {path}. "
        "Rates: more is better; ms and us: less is better."
    )
    if leaks:
        raise typer.Exit(1)


def _show(session: Session, rows: Sequence[Row]) -> None:
    for (part, peer), group in itertools.groupby(rows, lambda row: (row.part, row.peer)):
        session.report.table(
            f"{part}, against {peer}" if peer else part,
            ["measure", "ours", "peer", "unit", "ratio", "n"],
            [
                [
                    *(row.measure, _short(row.value), _short(row.peer_value), row.unit),
                    *(f"{row.ratio:.2f}x" if row.ratio else "-", row.n),
                ]
                for row in group
            ],
        )


async def measure(session: Session, only: str | None) -> list[Row]:
    """Return the rows of the chosen parts; soak and memory take minutes: only when asked for."""
    settings = session.settings
    rows: list[Row] = []
    if only in (None, "sandbox"):
        rows += await sandbox.measure(settings.section(SandboxConfig))
    if only in (None, "engine"):
        rows += await engine.measure(*_policy(session))
    if only in (None, "certificate"):
        together = settings.section(ProducerConfig).parallel_certificates
        rows += await certificate.measure(settings.section(SandboxConfig), together)
    if only in (None, "probe"):
        rows += await probe.measure(*_policy(session), settings)
    if only == "train":  # needs TRL, which only development has
        rows += train.measure(_policy(session)[0], settings.section(TrainConfig))
    if only == "memory":
        rows += memory.measure(settings.section(MemoryBenchConfig), session.home / "bench")
    if only == "soak":  # minutes of hostile episodes: only when asked for
        rows += await soak.measure(settings.section(SandboxConfig))
    return rows


def _policy(session: Session) -> tuple[Path, PolicyConfig]:
    """Return the newest policy version's folder and how it is to be run."""
    config = session.settings.section(PolicyConfig)
    versions = Versions(session.home / "policy")
    if not versions.all():
        versions.bootstrap(config)
    return versions.path(versions.latest()), config


def save(session: Session, rows: Sequence[Row], load: float | None) -> Path:
    """Keep the rows under ``bench/`` in the home folder, named by the time."""
    now = dt.datetime.now(dt.UTC)
    path = session.home / "bench" / f"throughput-{now:%Y%m%dT%H%M%S}.json"
    try:
        write_json(
            path,
            {
                "created": now.isoformat(timespec="seconds"),
                "machine": machine(),
                "load_at_start": load,
                "settings": session.settings.digest,
                "rows": [{**asdict(row), "ratio": row.ratio} for row in rows],
            },
        )
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}") from None
    return path


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
