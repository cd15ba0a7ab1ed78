"""The ladder: every policy version on every shard, older and newer; does learning go on?"""

import asyncio
import datetime as dt
from contextlib import closing
from dataclasses import asdict

from bench.ladder.book import Book, Protocol
from bench.ladder.config import LadderConfig
from bench.ladder.field import gather
from bench.ladder.outcome import outcome
from bench.ladder.pages import record, show, write
from bench.ladder.play import carry_out, floor
from bench.machine import machine
from memory import MemoryConfig, Store
from spadekit.cli import Session
from spadekit.files import exclusive
from spadekit.runs import run_name


def run(session: Session, name: str) -> None:
    """Make the plays that are missing, rate versions and shards, and tell what came out."""
    folder = session.home / "runs" / run_name(name) / "ladder"
    config = session.settings.section(LadderConfig)
    memory = session.settings.section(MemoryConfig)
    with Store.open(memory.place(session.home), memory) as store:
        field = gather(session.home, store, name, config)
    protocol = Protocol.of(session.settings)
    with (
        exclusive(folder / "lock", f"{folder}: another ladder is being played there; wait for it"),
        closing(Book(folder / "plays.jsonl", field, protocol)) as book,
    ):
        made = asyncio.run(carry_out(session, book, config))
        found = outcome(field, book.tallies(), book.returns, floor(book, config))
        head = {
            "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "run": name,
            "data": field.data,
            "protocol": asdict(protocol),
            "settings": asdict(config),
            "machine": machine(),
        }
        paths = write(found, head, folder)
    if session.report.as_json:
        session.report.data({**head, **record(found)})
    else:
        show(session, found)
    session.report.note(
        f"{made:,} plays made, {found.plays - made:,} from before; kept in "
        + ", ".join(str(path) for path in paths)
    )
