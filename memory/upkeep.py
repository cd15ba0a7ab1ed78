"""Commands that look after a store: releases, copies, verify, rebuild, compact."""

from typing import Annotated

import typer

from memory.config import MemoryConfig
from memory.copying import copy
from memory.places import place_of
from memory.releases import Release, format_shards, parse_shards
from memory.store import Store
from spadekit.cli import Session, command, session


def register(app: typer.Typer) -> None:
    """Add ``spadework memory ...`` to the front door."""
    upkeep = typer.Typer(help="Upkeep of the store.", no_args_is_help=True)
    command(upkeep, "release")(_release)
    command(upkeep, "releases")(_releases)
    command(upkeep, "copy")(_copy)
    command(upkeep, "verify")(_verify)
    command(upkeep, "rebuild")(_rebuild)
    command(upkeep, "embed")(_embed)
    command(upkeep, "compact")(_compact)
    app.add_typer(upkeep, name="memory")


def open_store(here: Session) -> Store:
    """Open the store that the session's home and recipe name."""
    config = here.settings.section(MemoryConfig)
    return Store.open(config.place(here.home), config)


def _release(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Letters, digits, '.', '_' and '-'.")],
    shards: Annotated[str, typer.Option(metavar="LIST", help="Like 1..12 or 1,3,5..7.")],
) -> None:
    """Name a list of shards for good."""
    here = session(ctx)
    numbers = parse_shards(shards)
    with open_store(here) as store:
        found = store.make_release(name, numbers)
    here.report.record("release", _row(found))


def _releases(ctx: typer.Context) -> None:
    """List the releases."""
    here = session(ctx)
    with open_store(here) as store:
        rows = [_row(one) for one in store.releases()]
    if rows or here.report.as_json:
        columns = ("name", "shards", "created", "digest")
        here.report.table("", columns, [list(row.values()) for row in rows])
    else:
        here.report.note("no releases yet; `spadework memory release NAME --shards 1..3` makes one")
    if not rows:
        raise typer.Exit(1)


def _copy(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FROM", help="A folder or s3://bucket/folder.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="An empty place, or the same store.")],
) -> None:
    """Copy a whole store to another place, every digest verified; run again to finish or update."""
    here = session(ctx)
    config = here.settings.section(MemoryConfig)
    there = place_of(target)
    with Store.open(source, config) as store, here.report.progress() as progress:
        task = progress.add_task("copying", total=None, note="")
        copied = copy(store, there, config, lambda part: progress.update(task, note=part))
    here.report.record(
        "copy", {"to": str(there), "written": copied.written, "already there": copied.kept}
    )
    here.report.note(f"work there with --set memory.uri={there}; {source} stays as it is")


def _rebuild(ctx: typer.Context) -> None:
    """Make the tables again from shards and logs, embeddings too."""
    here = session(ctx)
    with open_store(here) as store:
        count = store.rebuild()
    here.report.record("", {"rebuilt_from": count})


def _embed(
    ctx: typer.Context,
    again: Annotated[bool, typer.Option("--again", help="All of them, not only new ones.")] = False,
) -> None:
    """Embed environments with the recipe's model (searching does it for new ones)."""
    here = session(ctx)
    with open_store(here) as store:
        count = store.embed(again)
    here.report.record("", {"embedded": count, "model": store.embedder.name})


def _verify(ctx: typer.Context) -> None:
    """Recompute every digest of shards, logs and releases and name what is wrong."""
    here = session(ctx)
    with open_store(here) as store:
        problems = store.verify()
        count = len(store.shards()) if not problems else 0
    if here.report.as_json:
        here.report.data(problems)
    for problem in problems:
        here.report.error(problem)
    if problems:
        raise typer.Exit(1)
    if not here.report.as_json:  # there no problems are an empty list
        here.report.record("", {"shards": count, "problems": 0})
    here.report.note("every digest is as recorded, and the tables hold what the shards hold")


def _compact(ctx: typer.Context) -> None:
    """Compact the tables now; it also happens by itself as they grow."""
    here = session(ctx)
    with open_store(here) as store:
        store.compact()
    here.report.record("", {"compacted": True})


def _row(release: Release) -> dict[str, str]:
    return {
        "name": release.name,
        "shards": format_shards(release.shards),
        "created": release.created,
        "digest": release.digest,
    }
