"""What is imported, where to, and what becomes of every place of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from envgen.certificate import Certificate
from envgen.pools.candidate import Candidate, Found
from memory import EnvironmentRecord, Store
from memory.diversity import Decision
from spadekit.report import Report
from spadekit.settings import Settings


@dataclass(frozen=True)
class Pool:
    """What is imported. ``uri`` says where it is from, pinned where it can be.

    ``alike``: all its programs are one program with other data, so likeness of source says nothing and
    only the same behaviour makes a duplicate.
    ``asked``: the address with a tag that is meant to stay where it is, "" without one. ``note``: what
    whoever imports it should know. ``release``: tag and content of the release that it is, if it is one:
    its programs may be as alike among themselves as whoever published them let them be.
    ``believed``: its certificates are taken at their word.
    """

    uri: str
    read: Callable[[], Iterator[Found]]
    alike: bool = False
    asked: str = ""
    note: str = ""
    believed: bool = False
    release: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Home:
    """Where an import goes: an open store and what belongs to it."""

    store: Store
    folder: Path
    run: str
    settings: Settings
    report: Report
    policy_version: int


@dataclass
class Entry:
    """One place of a pool on its way. ``outcome`` is admitted, refused, duplicate, known or faulted.

    ``vouched`` says where its certificate is from: ``made`` here; ``confirmed``, a release's, made again
    here and found the same; ``believed``, a release's at its word. ``again`` is what the memory has of it
    where that was only believed when it came.
    """

    place: str
    candidate: Candidate | None = None
    certificate: Certificate | None = None
    vouched: str = ""
    decision: Decision | None = None
    again: EnvironmentRecord | None = None
    outcome: str = ""
    stage: str = ""
    reason: str = ""
    detail: str = ""

    def end(self, outcome: str, stage: str, reason: str, detail: str) -> None:
        """Record what became of it."""
        self.outcome, self.stage, self.reason, self.detail = outcome, stage, reason, detail


@dataclass(frozen=True)
class Imported:
    """What an import came to. ``shard`` None: there was nothing new to publish."""

    uri: str
    shard: int | None
    entries: tuple[Entry, ...] = field(repr=False)
    seconds: float = 0.0

    def counts(self) -> dict[str, int]:
        """Return how many places ended in each outcome."""
        found = Counter(entry.outcome for entry in self.entries)
        return {name: found[name] for name in OUTCOMES}

    def certificates(self) -> dict[str, int]:
        """Return where the certificates of what was admitted are from."""
        return certificates(self.entries)


def certificates(entries: Iterable[Entry]) -> dict[str, int]:
    """Count where the certificates of what was admitted are from."""
    found = Counter(entry.vouched for entry in entries if entry.outcome == "admitted")
    return {name: found[name] for name in VOUCHED}


VOUCHED = ("made", "confirmed", "believed")
OUTCOMES = ("admitted", "known", "duplicate", "refused", "faulted")
