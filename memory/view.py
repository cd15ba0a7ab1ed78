"""The memory for notebooks: Arrow tables of everything a store holds, nothing that writes records.

    import memory

    with memory.open("spadework-data/store") as store:  # or "s3://bucket/store"
        store.environments(status="frontier", regret="0.2..").to_pandas()
        store.search("a puzzle with a hidden rule", skill="causal_inference", limit=5)
        store.plays(environment=ID, columns=["arm", "episode_return", "policy_version"])
        store.standings().to_pandas().groupby("policy_version").regret.mean()
        store.shard(3).designs.group_by("outcome").aggregate([("id", "count")])

Every method gives a ``pyarrow.Table``, ``shard`` and ``release`` four of them (``Frames``); ``.to_pandas()``
makes a data frame of one.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from memory import releases, search, shards
from memory.config import MemoryConfig
from memory.schema import OUTCOMES, PURPOSES, StandingRecord
from memory.search import Query, parse_band
from memory.shards import Manifest
from memory.stats import STAGES
from memory.store import Store
from memory.tables import SCHEMAS, quoted
from spadekit.errors import BadInput

_FIGURES = {
    "status": pa.string(),
    "regret": pa.float64(),
    "regret_low": pa.float64(),
    "regret_high": pa.float64(),
    "return_unhinted": pa.float64(),
    "return_hinted": pa.float64(),
    "plays_unhinted": pa.int32(),
    "plays_hinted": pa.int32(),
    "measured_by": pa.int32(),  # the policy version of the newest standing
}

_INNER = ("key", "stamp")  # how the table of standings finds the last writer


@dataclass(frozen=True)
class Frames:
    """The records of one or more shards as Arrow tables."""

    environments: pa.Table
    designs: pa.Table
    plays: pa.Table
    standings: pa.Table


class View:
    """A store to look into. It sees what others publish meanwhile; close it, or use ``with``.

    Ranges are texts like ``"0.2.."``, ``"..0.5"`` or ``"0.2..0.5"``, ends included. ``columns``
    chooses fields. What a store does not know, a field, skill, status, setting, outcome, stage or
    purpose, raises ``BadInput`` with the nearest names.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def __enter__(self) -> "View":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<memory of {self._store.place}>"

    def close(self) -> None:
        """Let go of the tables."""
        self._store.close()

    def environments(
        self,
        *,
        skill: str = "",
        setting: str = "",
        status: str = "",
        shard: int | None = None,
        regret: str = "",
        episode_return: str = "",
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Return environments with their newest figures, by shard, then id.

        To the columns of ``EnvironmentRecord`` come ``status``, ``regret`` with ``regret_low`` and
        ``regret_high``, both returns, both counts of plays and ``measured_by``, the policy version
        whose figures these are; nan and 0 where nothing was measured.

            store.environments(skill="optimisation", status="frontier", columns=["title", "regret"])
        """
        query = Query(
            setting=setting,
            skill=skill,
            shard=shard,
            regret=parse_band(regret),
            episode_return=parse_band(episode_return),
            status=status,
        )
        rows = self._store.scan("environments", search.filters(setting, skill, shard))
        if skill and not rows.num_rows:
            search.check_skill(skill, self._store.skills())
        rows = rows.sort_by([("shard", "ascending"), ("id", "ascending")])
        latest = self._store.latest_standings()
        figures = [latest.get(one) for one in rows.column("id").to_pylist()]
        for name, kind in _FIGURES.items():
            values = [_figure(one, name, kind) for one in figures]
            rows = rows.append_column(pa.field(name, kind), pa.array(values, kind))
        if query.by_standing:
            rows = rows.filter(pa.array([search.passes(one, query) for one in figures], pa.bool_()))
        return _chosen(rows, columns)

    def search(
        self,
        text: str = "",
        *,
        like: str = "",
        skill: str = "",
        setting: str = "",
        status: str = "",
        shard: int | None = None,
        regret: str = "",
        episode_return: str = "",
        limit: int = 10,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Return the best matches by meaning and words, or the neighbours of environment ``like``.

        Without either, whatever passes the filters, greatest regret first. ``similarity`` is the
        cosine to the query, null where a match was found by its words only.

            store.search("canals with hidden state", regret="0.2..").to_pandas()
        """
        hits = self._store.search(
            text,
            like=like,
            skill=skill,
            setting=setting,
            status=status,
            shard=shard,
            regret=parse_band(regret),
            episode_return=parse_band(episode_return),
            limit=limit,
        )
        fields: Mapping[str, tuple[pa.DataType, list[Any]]] = {
            "id": (pa.string(), [hit.environment.id for hit in hits]),
            "title": (pa.string(), [hit.environment.title for hit in hits]),
            "description": (pa.string(), [hit.environment.description for hit in hits]),
            "skills": (pa.list_(pa.string()), [list(hit.environment.skills) for hit in hits]),
            "setting": (pa.string(), [hit.environment.setting for hit in hits]),
            "shard": (pa.int32(), [hit.environment.shard for hit in hits]),
            "similarity": (pa.float64(), [hit.similarity for hit in hits]),
            "score": (pa.float64(), [hit.score for hit in hits]),
            **{
                name: (kind, [_figure(hit.standing, name, kind) for hit in hits])
                for name, kind in _FIGURES.items()
            },
            "source": (pa.string(), [hit.environment.source for hit in hits]),
        }
        found = pa.table({name: pa.array(values, kind) for name, (kind, values) in fields.items()})
        return _chosen(found, columns)

    def plays(
        self,
        environment: str = "",
        *,
        shard: int | None = None,
        policy_version: int | None = None,
        purpose: str = "",
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Return episodes; ``shard`` 0 are those that came after publication.

        ``environment`` is an id or how it starts; ``purpose`` is ``probe`` or ``train``. Name the
        ``columns`` when there are many: tokens and transcripts are large.
        """
        search.check_known("purpose", purpose, PURPOSES)
        where = _where(
            environment=self._store.environment(environment).id if environment else None,
            shard=shard,
            policy_version=policy_version,
            purpose=purpose or None,
        )
        return self._rows("plays", where, ("policy_version", "id"), columns)

    def standings(
        self,
        environment: str = "",
        *,
        policy_version: int | None = None,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Return the history of figures: one row per environment and policy version.

        store.standings(ID, columns=["policy_version", "regret", "regret_low", "regret_high"])
        """
        name = self._store.environment(environment).id if environment else None
        where = _where(environment=name, policy_version=policy_version)
        return self._rows("standings", where, ("environment", "policy_version"), columns)

    def designs(
        self,
        *,
        shard: int | None = None,
        outcome: str = "",
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Return completions of the designer; ``outcome`` is ``admitted``, ``refused``, ..."""
        search.check_known("outcome", outcome, OUTCOMES)
        where = _where(shard=shard, outcome=outcome or None)
        return self._rows("designs", where, ("shard", "id"), columns)

    def quarantine(
        self, *, shard: int | None = None, stage: str = "", columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return the refused designs with stage, reason and detail, by shard.

        store.quarantine().group_by(["stage", "reason"]).aggregate([("id", "count")])
        """
        where = _where(shard=shard, stage=stage or None)
        rows = self._rows("quarantine", where, ("shard", "id"), columns)
        if not rows.num_rows:
            search.check_known("stage", stage, STAGES)
        return rows

    def shard(self, number: int) -> Frames:
        """Return the records of one shard from its files, checked against its sums."""
        return self._frames([self._store.manifest(number)])

    def release(self, name: str) -> Frames:
        """Return the records of a release's shards, checked against the sums it pins."""
        return self._frames(self._store.release(name))

    def shards(self) -> pa.Table:
        """Return one row per published shard."""
        heads = self._store.shards()
        return pa.table(
            {
                "shard": pa.array([head.shard for head in heads], pa.int32()),
                "policy_version": pa.array([head.policy_version for head in heads], pa.int32()),
                **{
                    name: pa.array([head.rows(name) for head in heads], pa.int64())
                    for name in shards.KINDS
                },
                "created": pa.array([head.created for head in heads], pa.string()),
                "digest": pa.array([head.digest for head in heads], pa.string()),
            }
        )

    def releases(self) -> pa.Table:
        """Return one row per release; ``shards`` reads like ``1..12``."""
        found = self._store.releases()
        return pa.table(
            {
                "name": pa.array([one.name for one in found], pa.string()),
                "shards": pa.array([releases.format_shards(o.shards) for o in found], pa.string()),
                "created": pa.array([one.created for one in found], pa.string()),
                "digest": pa.array([one.digest for one in found], pa.string()),
            }
        )

    def _rows(
        self, table: str, where: str, order: Sequence[str], columns: Sequence[str] | None
    ) -> pa.Table:
        """Read only the columns that are asked for: tokens and transcripts are most of a store."""
        known = [name for name in SCHEMAS[table].names if name not in _INNER]
        wanted = known if columns is None else list(columns)
        _check_columns(wanted, known)
        rows = self._store.scan(table, where, list(dict.fromkeys([*wanted, *order])))
        return rows.sort_by([(name, "ascending") for name in order]).select(wanted)

    def _frames(self, heads: Sequence[Manifest]) -> Frames:
        parts = {name: [self._store.member(head, name) for head in heads] for name in shards.KINDS}
        return Frames(**{name: pa.concat_tables(tables) for name, tables in parts.items()})


def open(uri: Path | str, config: MemoryConfig | None = None) -> View:
    """Open the store at a folder or ``s3://`` address to look into it. Raises ``BadInput``."""
    return View(Store.open(uri, config))


def _figure(standing: StandingRecord | None, name: str, kind: pa.DataType) -> Any:
    if name == "status":
        return search.status_of(standing)
    if standing is None:
        return float("nan") if kind == pa.float64() else (None if name == "measured_by" else 0)
    return standing.policy_version if name == "measured_by" else getattr(standing, name)


def _where(**equal: str | int | None) -> str:
    for name, value in equal.items():
        if isinstance(value, int):
            search.check_range(name, value)
    parts = [
        f"{name} = {quoted(value) if isinstance(value, str) else int(value)}"
        for name, value in equal.items()
        if value is not None
    ]
    return " AND ".join(parts)


def _chosen(rows: pa.Table, columns: Sequence[str] | None) -> pa.Table:
    if columns is None:
        return rows
    _check_columns(columns, rows.column_names)
    return rows.select(list(columns))


def _check_columns(columns: Sequence[str], known: Sequence[str]) -> None:
    for name in columns:
        if name not in known:
            near = difflib.get_close_matches(name, known, 3, 0.5)
            hint = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(known)}"
            raise BadInput(f"no field {name!r} here; {hint}")
