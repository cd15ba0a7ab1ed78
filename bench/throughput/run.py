"""Run the chosen measurements, keep them as JSON and Markdown with the machine, and print the tables."""

import asyncio
import datetime as dt
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

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
from spadekit.files import write_atomic, write_json

PARTS = ("sandbox", "engine", "certificate", "probe", "train", "memory", "soak")
"""In the order they are measured: the last two take minutes each."""
COLUMNS = ("measure", "ours", "peer", "unit", "ratio", "n")
SENSE = "Rates: more is better; s, ms and us: less is better."
Table = tuple[str, list[list[str]]]


def run(session: Session, only: str | None) -> None:
    """Measure every part, or the one that ``only`` names, and report it; exit 1 for a leak.

    The files are written after each part: what was measured before a later part failed is kept. Without
    ``only`` a part that this installation lacks something for is left out, and said to be.
    """
    began, load = dt.datetime.now(dt.UTC), load_average()
    rows: list[Row] = []
    left_out: dict[str, str] = {}
    parts = (only,) if only else PARTS
    path = session.home / "bench" / f"throughput-{began:%Y%m%dT%H%M%S}.json"
    for place, part in enumerate(parts, start=1):
        session.report.note(f"{part} ({place} of {len(parts)})")
        try:
            rows += asyncio.run(measure(session, part))
        except train.NoPeer as error:
            if only:
                raise
            left_out[part] = str(error)
            session.report.note(f"{part} left out: {error}")
        head = {
            "created": began.isoformat(timespec="seconds"),
            "machine": machine(),
            "load_at_start": load,
            "settings": session.settings.digest,
            "left_out": left_out,
        }
        save(path, head, rows)
    leaks = soak.leaks(rows)
    if session.report.as_json:
        session.report.data(_entries(rows))
    else:
        for title, cells in tables(rows):
            session.report.table(title, COLUMNS, cells)
        for leak in leaks:
            session.report.text(f"A leak: {leak}.")
    session.report.note(
        f"{machine()['cores']} cores, load {load} when it began; kept in {path} and "
        f"{path.with_suffix('.md').name} beside it. {SENSE}"
    )
    if leaks:
        raise typer.Exit(1)


async def measure(session: Session, part: str) -> list[Row]:
    """Return the rows of one of ``PARTS``."""
    settings = session.settings
    match part:
        case "sandbox":
            rows = await sandbox.measure(settings.section(SandboxConfig))
        case "engine":
            rows = await engine.measure(*_policy(session))
        case "certificate":
            together = settings.section(ProducerConfig).parallel_certificates
            rows = await certificate.measure(settings.section(SandboxConfig), together)
        case "probe":
            rows = await probe.measure(*_policy(session), settings)
        case "train":
            rows = train.measure(_policy(session)[0], settings.section(TrainConfig))
        case "memory":
            rows = memory.measure(settings.section(MemoryBenchConfig), session.home / "bench")
        case "soak":
            rows = await soak.measure(settings.section(SandboxConfig))
        case _:
            raise ValueError(f"no part {part!r}")
    return rows


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return (title, rows of text) for each part and peer, in the order they were measured."""
    return [
        (
            f"{part}, against {peer}" if peer else part,
            [
                [
                    *(row.measure, _short(row.value), _short(row.peer_value), row.unit),
                    *(f"{row.ratio:.2f}x" if row.ratio else "-", f"{row.n:,}"),
                ]
                for row in group
            ],
        )
        for (part, peer), group in itertools.groupby(rows, lambda row: (row.part, row.peer))
    ]


def save(path: Path, head: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Write the rows as JSON to ``path`` and as Markdown beside it. Raises ``BadInput``."""
    try:
        write_json(path, {**head, "rows": _entries(rows)})
        write_atomic(path.with_suffix(".md"), _markdown(head, rows).encode())
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}") from None


def _policy(session: Session) -> tuple[Path, PolicyConfig]:
    """Return the newest policy version's folder and how it is to be run."""
    config = session.settings.section(PolicyConfig)
    versions = Versions(session.home / "policy")
    if not versions.all():
        versions.bootstrap(config)
    return versions.path(versions.latest()), config


def _entries(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{**asdict(row), "ratio": row.ratio} for row in rows]


def _markdown(head: Mapping[str, Any], rows: Sequence[Row]) -> str:
    about = head["machine"]
    lines = [
        "# Throughput",
        "",
        f"{about['processor']}, {about['cores']} cores, {about['memory_gb']} GB, Python {about['python']}, "
        f"torch {about['torch']}; load {head['load_at_start']} when it began, {head['created']}. {SENSE}",
        *(f"\n{part} was left out: {why}." for part, why in head["left_out"].items()),
    ]
    for title, cells in tables(rows):
        lines += ["", f"**{title[0].upper()}{title[1:]}**", ""]
        lines += [f"| {' | '.join(row)} |" for row in (COLUMNS, ["---"] * len(COLUMNS), *cells)]
    return "\n".join(lines) + "\n"


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    if 0 < abs(value) < 0.1:
        return f"{value:.2g}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
