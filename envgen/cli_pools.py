"""The command ``import``: bring in a pool of environments."""

import asyncio
import itertools
from typing import Annotated, Any

import typer

from envgen.pools import Home, Imported, Limits, import_pool, open_pool
from envgen.pools.limits import MB
from envgen.pools.pool import OUTCOMES
from envgen.publishable import require_publishable
from memory import MemoryConfig, Store
from sandbox import Sandbox, SandboxConfig
from solver.versions import Versions
from spadekit.cli import Session, command, session
from spadekit.home import producing
from spadekit.report import Report
from spadekit.runs import RunOption

SHOWN = 40
"""Refusals that are listed one by one; ``--json`` lists all."""

WORDS = {name: name for name in OUTCOMES} | {"known": "known already and not certified again"}


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "import")
    def import_(
        ctx: typer.Context,
        pool: Annotated[
            str,
            typer.Argument(
                metavar="PATH|hf://USER/NAME[@REV]|reasoning-gym[:TASKS]|rlve-gym[:TASKS]",
                help="A folder of .py files, a .jsonl or .parquet file, a data set, or tasks.",
            ),
        ],
        run: RunOption = "main",
        recheck: Annotated[
            bool,
            typer.Option(
                "--recheck/--trust",
                help="Certify a release's environments again, or believe whoever published it.",
            ),
        ] = True,
        most_mb: Annotated[
            int, typer.Option(min=1, help="Refuse files of more megabytes together.")
        ] = Limits.pool // MB,
    ) -> None:
        """Certify somebody's environments and publish the sound, new ones as one shard."""
        current = session(ctx)
        try:
            done = asyncio.run(_import(current, pool, run, believed=not recheck, most_mb=most_mb))
        except KeyboardInterrupt:
            current.report.note("stopped; the same command goes on from here")
            raise typer.Exit(130) from None
        if current.report.as_json:
            current.report.data(_as_json(done))
        else:
            _print(current.report, done)
        counts = done.counts()
        if not counts["admitted"] + counts["known"]:
            raise typer.Exit(1)


async def _import(
    current: Session, uri: str, run: str, *, believed: bool, most_mb: int
) -> Imported:
    home, settings = current.home, current.settings
    config = settings.section(SandboxConfig)
    limits = Limits(config.max_source_bytes, most_mb * MB)
    pool = open_pool(uri, limits, believed=believed)
    if pool.note:
        current.report.note(pool.note)
    memory = settings.section(MemoryConfig)
    with (
        producing(home),
        Store.open(memory.place(home), memory, create=True) as store,
    ):
        require_publishable(store, run, home)
        version = max(Versions(home / "policy").all(), default=0)
        into = Home(store, home, run, settings, current.report, version)
        async with Sandbox(config) as sandbox:
            return await import_pool(pool, into, sandbox)


def _print(report: Report, done: Imported) -> None:
    lost = [one for one in done.entries if one.outcome not in ("admitted", "known")]
    if lost:
        rows = [(one.place, one.stage, one.reason, one.detail) for one in lost[:SHOWN]]
        report.table("not admitted", ("candidate", "stage", "reason", "what was found"), rows)
        if len(lost) > SHOWN:
            report.note(f"and {len(lost) - SHOWN} more; --json lists all")
        stages = sorted((one.outcome, one.stage) for one in lost)
        fell = [(*key, len(list(some))) for key, some in itertools.groupby(stages)]
        report.table("where they fell", ("outcome", "stage", "candidates"), fell)
    counts = done.counts()
    told = (
        ", ".join(f"{count} {WORDS[name]}" for name, count in counts.items() if count) or "nothing"
    )
    if by := [f"{count} {name}" for name, count in done.certificates().items() if count]:
        told += f"; certificates: {', '.join(by)}"
    where = f"shard {done.shard}" if done.shard is not None else "nothing new, no shard published"
    report.text(f"{done.uri}: {told}; {where} ({done.seconds:.1f} s)")


def _as_json(done: Imported) -> dict[str, Any]:
    return {
        "uri": done.uri,
        "shard": done.shard,
        "seconds": done.seconds,
        **done.counts(),
        "certificates": done.certificates(),
        "candidates": [
            {
                "place": one.place,
                "outcome": one.outcome,
                "stage": one.stage,
                "reason": one.reason,
                "detail": one.detail,
            }
            for one in done.entries
        ],
    }
