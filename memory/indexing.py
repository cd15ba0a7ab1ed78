"""From shards and logs to tables: each source exactly once, whatever was killed in between."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from memory import generation, shards
from memory.embedding import Embedder, embedding_text
from memory.places import Place
from memory.schema import (
    PlayRecord,
    StandingRecord,
    to_table,
)
from memory.tables import QUARANTINE, Tables, any_of, quoted
from spadekit.errors import BadInput

_LOGS: dict[str, type] = {"plays": PlayRecord, "standings": StandingRecord}
_COMPACTED = ("environments", "designs", "quarantine", "plays", "standings", "indexed")
REFUSED = ("refused", "duplicate")  # outcomes of designs that stand in quarantine
_BATCH = 512  # texts between two commits: some ten seconds of a model's work
_SHARDS = 1000  # in one filter; beyond that all ids are read


class Indexer:
    """Brings the tables up to date with what lies on the disk.

    Rows are inserted if absent by primary key and a source is marked ``indexed`` last, so that a
    killed run repeats harmlessly and several processes may index the same source at once.
    """

    def __init__(self, root: Place, tables: Tables, embedder: Embedder) -> None:
        self.root = root
        self.tables = tables
        self.embedder = embedder
        self._done: set[str] = set()
        self._embedded: tuple[Any, ...] = ()  # versions of the tables when nothing was missing

    def catch_up(self) -> int:
        """Index every shard and log that is not yet; return how many there were."""
        names = self._names()
        if self.follow() and self._done.issuperset(names):
            return 0
        self._done = self._marked()  # a look needs no lock, which a reader may not be allowed
        if self._done.issuperset(names):
            return 0
        with self._alone():
            self.follow()
            return self._index_missing(names)

    def follow(self) -> bool:
        """Go where the tables are now, which a rebuild changes; say whether that is where we were."""
        uri = str(generation.current(self.root))
        if uri == self.tables.uri:
            return True
        self.tables.use(uri)
        self._done = set()
        return False

    def lost(self) -> list[int]:
        """Return the shards that the tables hold rows of and that are not there any more, ascending."""
        here = set(shards.numbers(self.root / "shards"))
        marked = {int(name[7:]) for name in self._marked() if name.startswith("shards/")}
        return sorted(marked - here)

    def forget(self) -> None:
        """Let go of the tables and of what is known of them; the next call looks again."""
        self.tables.close()
        self._done = set()

    def rebuild(self) -> int:
        """Index every shard and log again, into new tables; return how many there were.

        Everybody goes on with the old tables until the new ones hold it all. Whoever was writing
        into the old ones meanwhile finds, at its next call, that the new ones lack its source.
        """
        with self._alone():
            name = generation.begin()
            uri = str(self.root / name)
            aside = Tables(uri, self.tables.config, lambda: self.embedder.width)
            try:
                count = Indexer(self.root, aside, self.embedder)._index_missing(self._names())
                generation.switch(self.root, name)
            except BaseException:
                (self.root / name).remove()
                raise
            finally:
                aside.close()
            self.follow()
        return count

    def _names(self) -> list[str]:
        # A look into every folder would cost each search milliseconds once there are hundreds.
        found = shards.numbers(self.root / "shards", lambda name: f"shards/{name}" in self._done)
        names = [f"shards/{number:06d}" for number in found]
        for log in _LOGS:
            names += [f"{log}/{name}" for name in shards.logs(self.root / log)]
        return names

    def _index_missing(self, names: Sequence[str]) -> int:
        self._done = self._marked()
        missing = [name for name in names if name not in self._done]
        for name in missing:
            content = self._index(name)
            self.tables.insert("indexed", pa.table({"name": [name], "content": [content]}))
            self._done.add(name)
        for table in _COMPACTED if missing else ():
            self.tables.compact(table)
        return len(missing)

    def _marked(self) -> set[str]:
        return set(self.tables.scan("indexed", columns=["name"]).column("name").to_pylist())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let one process at a time index or rebuild. A dead process holds no lock.

        This is only speed: racing ones would redo each other's commits. That rows stand once is
        owed to primary keys, and that none is lost to the marks in `indexed`.
        """
        with (self.root / "index.lock").lock():
            yield

    def embed_missing(self) -> int:
        """Embed environments that have no embedding; return how many. Safe to run beside itself."""
        tables = self.tables
        state = (self.embedder.name, *(tables.version(one) for one in ("environments", "vectors")))
        if state == self._embedded:
            return 0
        self.check_model()
        missing = self._not_embedded()
        columns = ["id", "shard", "setting", "skills", "title", "description"]
        for start in range(0, len(missing), _BATCH):
            part = any_of("id", missing[start : start + _BATCH])
            tables.insert("vectors", self._searchable(tables.scan("environments", part, columns)))
        if missing:
            tables.refresh_indexes("environments")
            # Many rows outside of the index slow every search.
            tables.compact("vectors", force=len(missing) > _BATCH)
            tables.ensure_indexes("vectors")
        else:
            self._embedded = state
        return len(missing)

    def _searchable(self, rows: pa.Table) -> pa.Table:
        """Return rows of ``environments`` as rows of ``vectors``: with their words, embedded."""
        about = (rows.column(name).to_pylist() for name in ("title", "description", "skills"))
        words = [embedding_text(*one) for one in zip(*about, strict=True)]
        flat = pa.array(self.embedder.embed(words).reshape(-1))
        return (
            rows.append_column("words", pa.array(words, pa.string()))
            .append_column("model", pa.array([self.embedder.name] * rows.num_rows))
            .append_column(
                "embedding", pa.FixedSizeListArray.from_arrays(flat, self.embedder.width)
            )
        )

    def _not_embedded(self) -> list[str]:
        """Return the ids of environments without an embedding, looking only where some are."""
        counts = [self._per_shard(name) for name in ("environments", "vectors")]
        behind = [shard for shard, count in counts[0].items() if counts[1].get(shard, 0) < count]
        if not behind:
            return []
        where = f"shard IN ({', '.join(map(str, behind))})" if len(behind) <= _SHARDS else ""
        known, have = (
            self.tables.scan(name, where, ["id"]).column("id")
            for name in ("environments", "vectors")
        )
        return known.filter(pc.invert(pc.is_in(known, have))).to_pylist()  # type: ignore[no-any-return]

    def _per_shard(self, name: str) -> dict[int, int]:
        shards_ = self.tables.scan(name, columns=["shard"]).column("shard")
        return {one["values"]: one["counts"] for one in shards_.value_counts().to_pylist()}

    def verify(self) -> list[str]:
        """Compare the tables' ids with those of shards and logs; a line per table that differs."""
        problems = []
        root = self.root / "shards"
        for name in ("environments", "designs", "quarantine", "plays"):
            wanted: set[str] = set()
            member = "designs" if name == "quarantine" else name
            for number in shards.numbers(root):
                records = shards.read_member(root, shards.manifest(root, number), member)
                if name == "quarantine":
                    records = [one for one in records if one.outcome in REFUSED]
                wanted.update(one.id for one in records)
            if name == "plays":
                for log in shards.logs(self.root / "plays"):
                    records = shards.read_log(self.root / "plays" / log, PlayRecord)
                    wanted.update(one.id for one in records)
            held = self.tables.scan(name, columns=["id"]).column("id").to_pylist()
            unique = set(held)
            counts = (len(wanted - unique), len(unique - wanted), len(held) - len(unique))
            if any(counts):
                problems.append(
                    f"table {name}: {counts[0]} rows missing, {counts[1]} unknown, {counts[2]} "
                    "double; `spadework memory rebuild` mends it"
                )
        return problems

    def unembedded(self) -> int:
        """Return how many environments have no embedding."""
        environments, vectors = (
            int(self.tables.table(name).count_rows()) for name in ("environments", "vectors")
        )
        return max(0, environments - vectors)

    def check_model(self) -> None:
        """Refuse embeddings that another model made. Raises ``BadInput``."""
        mine = self.embedder.name
        found = self.tables.scan("vectors", f"model != {quoted(mine)}", ["model"], limit=1)
        other = str(found.column("model")[0].as_py()) if found.num_rows else ""
        # `?` is a revision that is not known before the model was fetched.
        unsure = mine.endswith("@?") and other.startswith(mine.removesuffix("?"))
        if other and not unsure:
            raise BadInput(
                f"the store's embeddings come from {other}, not from "
                f"{mine}: set memory.embed_model back, or embed everything again "
                "with `spadework memory embed --again`"
            )

    def _index(self, name: str) -> str:
        folder, _, rest = name.partition("/")
        if folder == "shards":
            # As Arrow tables: records of thousands of rows would be made only to be undone.
            root = self.root / "shards"
            head = shards.manifest(root, int(rest))
            self._standings(shards.read_member(root, head, "standings"))
            self.tables.insert("environments", shards.member_table(root, head, "environments"))
            self._designs(shards.member_table(root, head, "designs"))
            self._plays(shards.member_table(root, head, "plays"), head.shard)
            return head.content
        path = self.root / name
        if folder == "plays":
            self._plays(to_table(PlayRecord, shards.read_log(path, PlayRecord)), 0)
        else:
            self._standings(shards.read_log(path, StandingRecord))
        return path.name.removesuffix(".parquet")

    def _designs(self, rows: pa.Table) -> None:
        self.tables.insert("designs", rows)
        refused = pc.is_in(rows.column("outcome"), pa.array(REFUSED))
        self.tables.insert("quarantine", rows.filter(refused).select(QUARANTINE))

    def _plays(self, rows: pa.Table, shard: int) -> None:
        column = pa.array([shard] * rows.num_rows, pa.int32())
        self.tables.insert("plays", rows.append_column("shard", column))

    def _standings(self, records: Sequence[StandingRecord]) -> None:
        rows = to_table(StandingRecord, records)
        keys = pa.array([one.key for one in records], pa.string())
        stamps = pa.array([one.stamp for one in records], pa.string())
        rows = rows.append_column("key", keys).append_column("stamp", stamps)
        self.tables.upsert_standings(rows)
