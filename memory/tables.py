"""The LanceDB tables: fast to query, safe under many writers, rebuildable from shards and logs.

``environments`` has wide rows, read by id. ``vectors`` is what is searched: embedding, words and
what can be filtered by, narrow, so that keeping it compact is cheap.

What every line here guards against is in LanceDB 0.40's behaviour: keys are unique under concurrent
writers only as *primary* keys on non-null columns, and never inside one batch; handles are stale
unless a consistency interval is set; ``optimize`` loses against busy writers and must be retried.
"""

import asyncio
import datetime as dt
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from memory.config import MemoryConfig
from memory.fusion import answers, terms
from memory.schema import DESIGNS, ENVIRONMENTS, PLAYS, STANDINGS
from spadekit.errors import BadInput

# Every update of a vector index warns of each partition that got no new row. LanceDB reads this when
# it is imported, which is not before this module is.
os.environ.setdefault("LANCEDB_LOG", "error")

QUARANTINE = (
    "id",
    "shard",
    "policy_version",
    "outcome",
    "stage",
    "reason",
    "detail",
    "environment",
)
"""What is kept of a refused design where refusals are looked up; the whole is in ``designs``."""
_PRIMARY = {b"lance-schema:unenforced-primary-key": b"true"}
_SEGMENTS = 4
"""Parts that the vector index may have before it is made again: every update adds one, and each costs
a search a millisecond."""
_PROBES = 40
_COMPARED = 40  # candidates of the index whose true distance is computed, if fewer are asked for
_LOOSE = 16  # rows outside of an index, each perhaps a file that every look-up reads


def _keyed(key: str, *fields: pa.Field) -> pa.Schema:
    """Return a schema whose ``key`` is the primary key from the moment the table exists."""
    first = pa.field(key, pa.string(), nullable=False, metadata=_PRIMARY)
    return pa.schema([first, *(field for field in fields if field.name != key)])


def _field(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


SCHEMAS: Mapping[str, pa.Schema] = MappingProxyType(
    {
        "environments": _keyed("id", *ENVIRONMENTS),
        "designs": _keyed("id", *DESIGNS),
        "plays": _keyed("id", *PLAYS, _field("shard", pa.int32())),
        "standings": _keyed("key", _field("stamp", pa.string()), *STANDINGS),
        "sketches": _keyed(
            "id",
            _field("scheme", pa.string()),
            _field("digest", pa.string()),
            pa.field("signature", pa.list_(pa.uint32())),
        ),
        "quarantine": _keyed("id", *(DESIGNS.field(name) for name in QUARANTINE)),
        "indexed": _keyed("name", _field("content", pa.string())),
    }
)


def _vectors(width: int) -> pa.Schema:
    return _keyed(
        "id",
        _field("shard", pa.int32()),
        _field("setting", pa.string()),
        _field("skills", pa.list_(pa.string())),
        _field("words", pa.string()),
        _field("model", pa.string()),
        pa.field("embedding", pa.list_(pa.float32(), width)),
    )


# Kinds: B btree (many values), M bitmap (few values), L label list, F full text.
_INDEXES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "environments": {"id": "B", "shard": "M", "setting": "M", "skills": "L"},
        "designs": {"id": "B", "shard": "M"},
        "quarantine": {"id": "B", "shard": "M", "stage": "M"},
        "plays": {"id": "B", "environment": "B"},
        "standings": {"key": "B", "environment": "B"},
        "vectors": {"id": "B", "shard": "M", "setting": "M", "skills": "L", "words": "F"},
        "sketches": {},
        "indexed": {},
    }
)


class Tables:
    """The tables in one LanceDB folder (an absolute path, or an object-store address)."""

    def __init__(self, uri: str, config: MemoryConfig, width: Callable[[], int]) -> None:
        self.uri = uri
        self.config = config
        self._width = width
        self._open: dict[str, Any] = {}
        self._indexed: set[str] = set()  # tables that have all their indexes
        self._db: Any = None

    def schema(self, name: str) -> pa.Schema:
        """Return the schema of a table; that of the embeddings asks the model for its width."""
        return _vectors(self._width()) if name == "vectors" else SCHEMAS[name]

    def table(self, name: str) -> Any:
        """Return a table, created with its primary key and indexes when it is not there."""
        if name in self._open:
            return self._open[name]
        db = self._connect()
        if name in db.list_tables().tables:
            table = db.open_table(name)
            _check_layout(name, table.schema.names)
        else:
            # With `exist_ok` racing creators all get the one table; the key is in its schema.
            table = db.create_table(name, schema=self.schema(name), exist_ok=True)
        self._open[name] = table
        return table

    def insert(self, name: str, rows: pa.Table) -> int:
        """Insert the rows whose key is not there yet; return how many were."""
        if not rows.num_rows:
            return 0
        table = self.table(name)
        key = table.schema.names[0]
        batch = _first_of_each(rows, key).select(table.schema.names).cast(table.schema)
        result = table.merge_insert(key).when_not_matched_insert_all().execute(batch)
        return int(result.num_inserted_rows)

    def upsert_standings(self, rows: pa.Table) -> None:
        """Write whole rows; for one key the greatest stamp wins, whatever the order of arrival."""
        if not rows.num_rows:
            return
        latest = rows.sort_by([("stamp", "descending")])
        batch = (
            _first_of_each(latest, "key")
            .select(SCHEMAS["standings"].names)
            .cast(SCHEMAS["standings"])
        )
        (
            self.table("standings")
            .merge_insert("key")
            .when_matched_update_all(where="target.stamp < source.stamp")
            .when_not_matched_insert_all()
            .execute(batch)
        )

    def version(self, name: str) -> int:
        """Return the number of a table's newest version; every commit makes one."""
        return int(self.table(name).version)

    def scan(
        self,
        name: str,
        where: str = "",
        columns: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> pa.Table:
        """Return the rows that match a filter; no limit unless one is given."""
        query = self._query(name)
        if where:
            query = query.where(where)
        if columns is not None:
            query = query.select(list(columns))
        return _asked(query if limit is None else query.limit(limit))[0]

    def nearest(self, vector: Sequence[float], where: str, limit: int) -> list[tuple[str, float]]:
        """Return (id, cosine) of the nearest embeddings: exact below ``exact_below`` rows."""
        return _near(_asked(self._nearest(vector, where, limit))[0])

    def nearest_and_matching(
        self, vector: Sequence[float], words: str, where: str, limit: int
    ) -> tuple[list[tuple[str, float]], list[str]]:
        """Return the ``nearest``, and who holds most of the words by BM25 score; both asked at once."""
        from lancedb.query import MatchQuery

        near = self._nearest(vector, where, limit)
        if not words.strip():
            return _near(_asked(near)[0]), []
        self.ensure_indexes("vectors")
        match = MatchQuery(words, "words")  # type: ignore[call-arg]
        query = self._query("vectors").nearest_to_text(match)
        if where:
            query = query.where(where)
        by_vector, by_words = _asked(near, query.select(["id", "words", "_score"]).limit(limit))
        wanted = terms(words)
        texts = by_words.column("words").to_pylist()
        ids = by_words.column("id").to_pylist()
        held = [one for one, text in zip(ids, texts, strict=True) if answers(wanted, text)]
        return _near(by_vector), held

    def ensure_indexes(self, name: str) -> None:
        """Create the indexes that a table lacks, the vector index once it is large enough."""
        if name in self._indexed:
            return
        table = self.table(name)
        present = {column for index in table.list_indices() for column in index.columns}
        missing = {c: _index(k) for c, k in _INDEXES[name].items() if c not in present}
        rows = table.count_rows() if name == "vectors" and "embedding" not in present else 0
        if rows >= self.config.exact_below:
            missing["embedding"] = _ivf(rows)
        done = [
            self._retried(table, lambda c=column, g=config: table.create_index(c, config=g))
            for column, config in missing.items()
        ]
        if all(done) and (name != "vectors" or "embedding" in (present | missing.keys())):
            self._indexed.add(name)  # for good: asking again costs every search milliseconds

    def refresh_indexes(self, name: str) -> None:
        """Make the indexes of a table of wide rows again when rows are outside of them.

        That takes 0.2 s for 200,000 rows, where compaction also rewrites the rows themselves.
        """
        self.ensure_indexes(name)
        table = self.table(name)
        stats = table.index_stats("id_idx")
        if stats is None or stats.num_unindexed_rows < _LOOSE:
            return
        for column, kind in _INDEXES[name].items():
            made = _index(kind)
            self._retried(
                table, lambda c=column, m=made: table.create_index(c, config=m, replace=True)
            )

    def compact(self, name: str, force: bool = False) -> bool:
        """Merge small fragments, update indexes, drop old versions; say whether that was done.

        Due at ``compact_every`` small fragments, at half as many where every search reads those
        that are not indexed yet. Readers pinned to a version of the last day keep it. Never raises
        for a lost race against writers: the next call tries again.
        """
        table = self.table(name)
        if not force:
            small = table.stats()["fragment_stats"]["num_small_fragments"]
            if small < self.config.compact_every / (2 if name == "vectors" else 1):
                return False
        keep = dt.timedelta(days=1)
        done = self._retried(table, lambda: table.optimize(cleanup_older_than=keep))
        self.ensure_indexes(name)  # after, or what is made here would be made again at once
        if name == "vectors" and done:
            self._renew_index(table, 1 if force else _SEGMENTS)
        return done

    def compact_all(self) -> None:
        """Compact every table that exists."""
        for name in self._connect().list_tables().tables:
            if name in _INDEXES:
                self.compact(name, force=True)

    def drop(self, name: str) -> None:
        """Remove a table that can be made again; it comes back empty at its next use."""
        self._connect().drop_table(name, ignore_missing=True)
        self.close()  # the session remembers files that are gone

    def use(self, uri: str) -> None:
        """Go on with the tables at another address."""
        self.close()
        self.uri = uri

    def close(self) -> None:
        """Let go of the tables; they are opened again at their next use."""
        self._open.clear()
        self._indexed.clear()
        self._db = None

    def _connect(self) -> Any:
        if self._db is None:
            import lancedb

            fresh = dt.timedelta(seconds=self.config.fresh_s)
            self._db = lancedb.connect(self.uri, read_consistency_interval=fresh)
        return self._db

    def _query(self, name: str) -> Any:
        """Start a query below LanceDB's blocking table, whose every query asks for the schema thrice.

        That was a fifth of a search's time. The handle is the same, so what it wrote is seen.
        """
        return self.table(name)._table.query()

    def _nearest(self, vector: Sequence[float], where: str, limit: int) -> Any:
        query = self._query("vectors").nearest_to(list(vector)).column("embedding")
        query = query.distance_type("cosine")
        if where:
            query = query.where(where)
        if self._has_vector_index():
            query = query.nprobes(_PROBES).refine_factor(math.ceil(_COMPARED / limit))
        return query.select(["id", "_distance"]).limit(limit)

    def _renew_index(self, table: Any, segments: int) -> None:
        """Make the vector index again once it has more than so many parts."""
        name = next((i.name for i in table.list_indices() if "embedding" in i.columns), "")
        stats = table.index_stats(name) if name else None
        if stats is None or stats.num_indices <= segments:
            return
        made = _ivf(table.count_rows())
        self._retried(table, lambda: table.create_index("embedding", config=made, replace=True))

    def _has_vector_index(self) -> bool:
        if "vectors" in self._indexed:
            return True
        indexes = self.table("vectors").list_indices()
        return any("embedding" in index.columns for index in indexes)

    @staticmethod
    def _retried(table: Any, work: Any, tries: int = 4) -> bool:
        for attempt in range(tries):
            try:
                table.checkout_latest()
                work()
            except (RuntimeError, OSError) as error:
                # LanceDB reports a lost race only in the text of a RuntimeError.
                if "conflict" not in str(error).lower():
                    raise
                time.sleep(0.05 * 2**attempt)
            else:
                return True
        return False


def _asked(*queries: Any) -> list[pa.Table]:
    """Return the answers of queries that run at once."""
    from lancedb.background_loop import LOOP

    async def answers_() -> list[pa.Table]:
        return await asyncio.gather(*(query.to_arrow() for query in queries))

    return LOOP.run(answers_())  # type: ignore[no-any-return, no-untyped-call]


def _near(found: pa.Table) -> list[tuple[str, float]]:
    similarity = [1.0 - distance for distance in found.column("_distance").to_pylist()]
    return list(zip(found.column("id").to_pylist(), similarity, strict=True))


def _index(kind: str) -> Any:
    from lancedb.index import FTS, Bitmap, BTree, LabelList

    return {"B": BTree, "M": Bitmap, "L": LabelList, "F": FTS}[kind]()


def _ivf(rows: int) -> Any:
    """Return the vector index for a table of so many rows.

    LanceDB's own choice, a partition for 8192 rows, makes the probes read most of the table: 33 ms a
    search at 200,000 rows where this takes 10. A wanted *number* of partitions would hold only until
    the first ``optimize``, which merges them to that choice; a wanted size is kept. Its training is
    cut short, which costs no recall.
    """
    from lancedb.index import IvfSq

    return IvfSq(
        distance_type="cosine",
        target_partition_size=max(64, math.isqrt(rows)),
        sample_rate=64,
        max_iterations=15,
    )


def _check_layout(name: str, found: Sequence[str]) -> None:
    """Refuse a table that an earlier version of this library made without some of its columns.

    One without any column is damaged, which reading it will say.
    """
    wanted = _vectors(1) if name == "vectors" else SCHEMAS[name]
    lacking = [column for column in wanted.names if column not in found]
    if found and lacking:
        raise BadInput(
            f"the store's table {name} has no {lacking[0]}: another version of spadework made it; "
            "`spadework memory rebuild` makes the tables again from shards and logs"
        )


def quoted(text: str) -> str:
    """Return a SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def any_of(column: str, values: Sequence[str]) -> str:
    """Return the filter that ``column`` is one of ``values``."""
    return f"{column} IN ({', '.join(map(quoted, values))})" if values else "false"


def _first_of_each(rows: pa.Table, key: str) -> pa.Table:
    """Drop later rows with a key that came before: LanceDB does not look inside a batch."""
    seen: set[str] = set()
    keep = []
    for value in rows.column(key).to_pylist():
        keep.append(value not in seen)
        seen.add(value)
    return rows if all(keep) else rows.filter(pc.equal(pa.array(keep), True))
