"""What the pages list: one light row for each environment with its newest figures."""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memory import StandingRecord, Store
from memory.search import canonical_skill, status_of

_COLUMNS = ["id", "shard", "setting", "skills", "title", "difficulty", "policy_version"]


@dataclass(frozen=True)
class Entry:
    """An environment without its texts; ``standing`` is its newest, None where nothing was measured."""

    id: str
    shard: int
    setting: str
    skills: tuple[str, ...]
    title: str
    difficulty: int
    policy_version: int
    standing: StandingRecord | None

    @property
    def status(self) -> str:
        """Its status in the newest figures."""
        return status_of(self.standing)

    @property
    def regret(self) -> float | None:
        """Its newest regret, None where nothing was measured."""
        return known(self.standing.regret) if self.standing else None

    @property
    def rank(self) -> tuple[float, str]:
        """Sorts the greatest regret first, unmeasured environments last."""
        return (-self.regret if self.regret is not None else 2.0, self.id)


class Catalogue:
    """All environments of a store by shard, then id. Read again only when the store has changed.

    Threads may share one.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._rows: tuple[tuple[str, int], list[Entry]] | None = None
        self._joined: tuple[Sequence[Entry], Mapping[str, StandingRecord], tuple[Entry, ...]]
        self._joined = ((), {}, ())

    def entries(self) -> tuple[Entry, ...]:
        """Return all environments; the same tuple as long as nothing has changed."""
        latest = self._store.latest_standings()
        with self._lock:
            rows = self._current()
            if self._joined[0] is not rows or self._joined[1] is not latest:
                joined = tuple(replace(one, standing=latest.get(one.id)) for one in rows)
                self._joined = (rows, latest, joined)
            return self._joined[2]

    def _current(self) -> list[Entry]:
        tables = self._store.tables
        state = (tables.uri, tables.version("environments"))
        if self._rows is None or self._rows[0] != state:
            found = self._store.scan("environments", columns=_COLUMNS)
            found = found.sort_by([("shard", "ascending"), ("id", "ascending")])
            columns = [found.column(name).to_pylist() for name in _COLUMNS]
            rows = [
                Entry(name, shard, setting, tuple(skills), title, difficulty, version, None)
                for name, shard, setting, skills, title, difficulty, version in zip(
                    *columns, strict=True
                )
            ]
            self._rows = (state, rows)
        return self._rows[1]


def chosen(
    entries: Sequence[Entry],
    *,
    skill: str = "",
    status: str = "",
    setting: str = "",
    shard: int | None = None,
) -> list[Entry]:
    """Return the entries that pass every filter given, the greatest regret first."""
    wanted = canonical_skill(skill)
    return sorted(
        (
            one
            for one in entries
            if (not wanted or wanted in one.skills)
            and (not status or one.status == status)
            and (not setting or one.setting == setting)
            and (shard is None or one.shard == shard)
        ),
        key=lambda one: one.rank,
    )


def known(value: float | None) -> float | None:
    """Return a figure, None where it is missing or not finite."""
    return value if value is not None and math.isfinite(value) else None
