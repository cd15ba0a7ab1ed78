"""Jobs and their journal: what was asked for, what became of it, and what goes on after a kill.

    queued ──► running ──► done | failed
      │           │  (killed: still running in the journal, goes on at the next start)
      └───────────┴──► cancelled

Every change is a line of ``home/runs/<run>/jobs.jsonl``; a job is what its lines come to. The journal
also holds which policy version was pinned.
"""

import dataclasses
import datetime as dt
import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from spadekit.files import Journal, write_atomic

Kind = Literal["generate", "measure"]
Origin = Literal["user", "stock"]
State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")


@dataclass(frozen=True)
class Job:
    """A piece of work. ``generate`` publishes ``rounds`` shards; ``measure`` plays ``environments``
    with ``policy_version``."""

    id: str
    kind: Kind
    origin: Origin
    created: str
    rounds: int = 0
    environments: tuple[str, ...] = ()
    policy_version: int | None = None
    state: State = "queued"
    cancelling: bool = False
    started: str = ""
    ended: str = ""
    shards: tuple[int, ...] = ()
    """Shards whose round this job has begun; those that exist were published by it."""
    message: str = ""

    @property
    def is_ended(self) -> bool:
        """Whether nothing more will be done for it."""
        return self.state in ENDED


@dataclass(frozen=True)
class Books:
    """What the journal comes to: all jobs by id, oldest first, and the pinned policy version."""

    jobs: Mapping[str, Job]
    pinned: int | None = None


def after(books: Books, entry: Mapping[str, Any]) -> Books:
    """Return what the books say once ``entry`` is added. Raises ``KeyError`` for an unknown job."""
    kind = entry["kind"]
    if kind == "pin":
        return dataclasses.replace(books, pinned=entry["version"])
    if kind == "job":
        values = {key: value for key, value in entry.items() if key not in ("kind", "work")}
        for name in ("environments", "shards"):
            values[name] = tuple(values[name])
        job = Job(kind=entry["work"], **values)
    else:
        job = _changed(books.jobs[entry["job"]], entry)
    return dataclasses.replace(books, jobs={**books.jobs, job.id: job})


def _changed(job: Job, entry: Mapping[str, Any]) -> Job:
    match entry["kind"]:
        case "start":
            return dataclasses.replace(job, state="running", started=job.started or entry["at"])
        case "round":
            return dataclasses.replace(job, shards=(*job.shards, entry["shard"]))
        case "cancel":
            return dataclasses.replace(job, cancelling=True)
        case "end":
            told = {"state": entry["state"], "message": entry["message"], "ended": entry["at"]}
            return dataclasses.replace(job, **told)
    raise KeyError(entry["kind"])


def next_job(jobs: Iterable[Job]) -> Job | None:
    """Return what to do now: what was begun goes on, then users' jobs in order, then the stock's."""
    waiting = [job for job in jobs if not job.is_ended]
    order = {"running": 0, "queued": 1}
    waiting.sort(key=lambda job: (order[job.state], job.origin == "stock"))
    return waiting[0] if waiting else None


def shortened(books: Books, keep: int) -> Books:
    """Return the books with all jobs that have not ended and the last ``keep`` that have."""
    ended = [job.id for job in books.jobs.values() if job.is_ended]
    forgotten = set(ended[:-keep])
    jobs = {name: job for name, job in books.jobs.items() if name not in forgotten}
    return dataclasses.replace(books, jobs=jobs)


class Ledger:
    """The journal of jobs, opened. Threads may share it; every change is on the disk when a method
    returns."""

    def __init__(self, path: Path, keep: int) -> None:
        self._lock = threading.Lock()
        self._keep = keep
        _shorten(path, keep)
        self._journal, self._books = _read(path)
        self._journal.entries.clear()
        self._last = max((int(name[1:]) for name in self._books.jobs), default=0)
        for job in self._books.jobs.values():
            if job.cancelling and not job.is_ended:
                self.end(job.id, "cancelled", "cancelled before a restart")

    @property
    def books(self) -> Books:
        """The present state, never changed in place."""
        return self._books

    def add(self, kind: Kind, origin: Origin, **values: Any) -> Job:
        """Queue a new job and return it."""
        with self._lock:
            self._last += 1
            job = Job(f"j{self._last:06d}", kind, origin, now(), **values)
            self._write(_whole(job))
            if len(self._books.jobs) > 2 * self._keep:
                self._books = shortened(self._books, self._keep)
        return job

    def start(self, job: str) -> Job:
        """Note that a job runs (again), unless it was cancelled meanwhile; return it."""
        with self._lock:
            if not self._books.jobs[job].is_ended:
                self._write({"kind": "start", "job": job, "at": now()})
            return self._books.jobs[job]

    def begin_round(self, job: str, shard: int) -> Job:
        """Note that a job has begun the round that publishes ``shard``; twice is once."""
        if shard in self._books.jobs[job].shards:
            return self._books.jobs[job]
        return self._note({"kind": "round", "job": job, "shard": shard})

    def cancel(self, job: str) -> Job:
        """Note that a job shall go no further: at once when it waits, at a safe point when it runs."""
        with self._lock:
            found = self._books.jobs[job]
            if found.is_ended or found.cancelling:
                return found
            self._write({"kind": "cancel", "job": job})
            if found.state == "queued":
                self._write(_end(job, "cancelled", "cancelled before it began"))
            return self._books.jobs[job]

    def end(self, job: str, state: State, message: str) -> Job:
        """Note how a job ended."""
        return self._note(_end(job, state, message))

    def pin(self, version: int | None) -> None:
        """Note which policy version shall serve; None: the newest that the schedule gives."""
        with self._lock:
            self._write({"kind": "pin", "version": version})

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def _note(self, entry: dict[str, Any]) -> Job:
        with self._lock:
            self._write(entry)
            return self._books.jobs[entry["job"]]

    def _write(self, entry: dict[str, Any]) -> None:
        self._journal.append(entry)
        self._journal.sync()
        self._journal.entries.clear()  # the books hold all that is asked for
        self._books = after(self._books, entry)


def now() -> str:
    """Return the time as ISO 8601 in UTC."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


def _whole(job: Job) -> dict[str, Any]:
    values = dataclasses.asdict(job)
    return {"work": values.pop("kind")} | values | {"kind": "job"}


def _end(job: str, state: State, message: str) -> dict[str, Any]:
    return {"kind": "end", "job": job, "state": state, "message": message, "at": now()}


def _read(path: Path) -> tuple[Journal, Books]:
    """Open a journal and return it with what it comes to."""
    books = Books({})

    def take(number: int, entry: Mapping[str, Any]) -> None:
        nonlocal books
        books = after(books, entry)

    return Journal(path, take), books


def _shorten(path: Path, keep: int) -> None:
    """Write the journal again with one line for each job, and only the last ``keep`` that ended."""
    if not path.exists():
        return
    journal, books = _read(path)
    journal.close()
    books = shortened(books, keep)
    lines = [_whole(job) for job in books.jobs.values()]
    lines.append({"kind": "pin", "version": books.pinned})
    write_atomic(path, b"".join(json.dumps(line).encode() + b"\n" for line in lines))
