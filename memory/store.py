"""The store: one door to shards, logs, tables, search and the diversity filter."""

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from memory import generation, lineage, mark, releases, search, shards, stats
from memory.config import MemoryConfig
from memory.diversity import DiversityFilter
from memory.door import answering
from memory.embedding import Embedder
from memory.examples import Examples, choose
from memory.indexing import Indexer
from memory.lineage import Lineage
from memory.places import Place, place_of
from memory.releases import Release
from memory.schema import (
    DesignRecord,
    EnvironmentRecord,
    PlayRecord,
    StandingRecord,
    from_table,
)
from memory.search import Band, Hit, Latest
from memory.shards import Manifest, ShardData
from memory.sketches import load_filter
from memory.standing import STATUSES
from memory.stats import Funnel, Stats
from memory.tables import Tables, any_of, quoted
from spadekit.errors import BadInput

Found = TypeVar("Found")
_HEX = frozenset("0123456789abcdef")


class NotThere(BadInput):
    """What was asked for by its id is not in the store."""


class Store:
    """The environment memory in one place. Open it with ``Store.open``.

    Threads may share one; any number of processes may read and write the same place: shards, logs
    and releases appear at once and whole, rows stand once by their keys, and a rebuild is seen only
    when it is complete.
    """

    def __init__(self, place: Place, config: MemoryConfig, embedder: Embedder) -> None:
        self.place = place
        self.config = config
        self.embedder = embedder
        tables = str(generation.current(place))
        self.tables = Tables(tables, config, lambda: self.embedder.width)
        self._indexer = Indexer(place, self.tables, self.embedder)
        self._looked = -1e9
        self._lock = threading.RLock()
        self._embedding = threading.Lock()  # apart, so that publishing never waits for a model
        self._latest: tuple[tuple[str, int], list[StandingRecord], Latest] | None = None

    @classmethod
    def open(
        cls,
        root: Path | str,
        config: MemoryConfig | None = None,
        create: bool = False,
        embedder: Embedder | None = None,
    ) -> "Store":
        """Open the store at ``root``, a folder or an ``s3://`` address; made when ``create``.

        ``embedder`` is a model that several stores share; without one the configuration's is used.
        Raises ``BadInput``.
        """
        place = place_of(root)
        mark.check(place, create)
        config = config or MemoryConfig()
        return cls(place, config, embedder or Embedder(config.embed_model, config.embed_batch))

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the tables; the store opens them again when it is used again."""
        with self._lock:
            self._indexer.forget()
            self._looked = -1e9

    # Writing

    @answering
    def publish(
        self,
        shard: int,
        environments: Sequence[EnvironmentRecord],
        designs: Sequence[DesignRecord],
        plays: Sequence[PlayRecord],
        standings: Sequence[StandingRecord],
        *,
        meta: Mapping[str, Any],
    ) -> Manifest:
        """Publish a shard for good: atomic, on the disk when this returns, then indexed.

        Doing it again with the same records changes nothing; with others it is refused
        (``BadInput``). Never waits for embeddings.
        """
        records = {
            "environments": environments,
            "designs": designs,
            "plays": plays,
            "standings": standings,
        }
        manifest = shards.publish(self.place / "shards", shard, records, meta)
        self.index()
        return manifest

    @answering
    def lost(self) -> list[int]:
        """Return the shards that were published and are not there any more, ascending.

        Publishing another one under such a number would leave the tables with the old one's rows.
        """
        return self._indexer.lost()

    @answering
    def append_plays(self, records: Sequence[PlayRecord]) -> None:
        """Append later plays as one immutable log; the same records again change nothing."""
        if records:
            shards.append_log(self.place / "plays", PlayRecord, records)
            self.index()

    @answering
    def upsert_standings(self, records: Sequence[StandingRecord]) -> None:
        """Record figures; for one environment and version ``StandingRecord`` says which of two stays."""
        if records:
            shards.append_log(self.place / "standings", StandingRecord, records)
            self.index()

    @answering
    def index(self, shard: int | None = None) -> int:
        """Bring the tables up to date with shards and logs; return how many of them were new.

        With ``shard`` that shard must be there (``BadInput``). Embeddings are made by the next
        ``search``.
        """
        if shard is not None:
            shards.manifest(self.place / "shards", shard)
        with self._lock:
            count = self._indexer.catch_up()
            self._looked = time.monotonic()
        return count

    def _refresh(self) -> None:
        """Index what others published. Far away that costs a round trip: not more often than asked."""
        age = time.monotonic() - self._looked
        if not self.place.remote or age >= self.config.fresh_s:
            self.index()

    @answering
    def unembedded(self) -> int:
        """Return how many environments have no embedding yet."""
        self._refresh()
        return self._indexer.unembedded()

    @answering
    def embed(self, again: bool = False) -> int:
        """Embed now whatever has no embedding yet; return how many that were.

        ``again``: embed everything anew, with the configuration's model.
        """
        self._refresh()
        with self._embedding:
            if again:
                self.tables.drop("vectors")
            return self._indexer.embed_missing()

    # Shards

    @answering
    def numbers(self) -> list[int]:
        """Return the numbers of all shards in order, which is cheaper than their manifests."""
        return shards.numbers(self.place / "shards")

    @answering
    def shards(self) -> list[Manifest]:
        """Return the manifests of all shards in order."""
        root = self.place / "shards"
        return [shards.manifest(root, number) for number in shards.numbers(root)]

    @answering
    def shard(self, number: int) -> ShardData:
        """Return the records of one shard, checked against its sums. Raises ``BadInput``."""
        return shards.read(self.place / "shards", number)

    @answering
    def manifest(self, number: int) -> Manifest:
        """Return the manifest of one shard. Raises ``BadInput``."""
        return shards.manifest(self.place / "shards", number)

    @answering
    def member(self, head: Manifest, name: str) -> pa.Table:
        """Return one file of a shard as a table, checked against its sum. Raises ``BadInput``."""
        return shards.member_table(self.place / "shards", head, name)

    # Releases

    @answering
    def make_release(self, name: str, numbers: Sequence[int]) -> Release:
        """Name a list of shards for good. Raises ``BadInput`` when the name means another list."""
        return releases.make(self.place, name, numbers)

    @answering
    def release(self, name: str) -> list[Manifest]:
        """Return the manifests of a release's shards, all there as they were. Raises ``BadInput``."""
        return releases.resolve(self.place, releases.read(self.place, name))

    @answering
    def releases(self) -> list[Release]:
        """Return all releases by name."""
        return [releases.read(self.place, name) for name in releases.listed(self.place)]

    # Reading

    @answering
    def environment(self, name: str) -> EnvironmentRecord:
        """Return the environment whose id is or starts with ``name``. Raises ``NotThere``, ``BadInput``."""
        self._refresh()
        found = self.tables.scan("environments", self._starts(name), limit=2)
        return self._only(from_table(EnvironmentRecord, found), name, "environment")

    @answering
    def design(self, name: str) -> DesignRecord:
        """Return the design whose id is or starts with ``name``. Raises ``NotThere``, ``BadInput``."""
        self._refresh()
        found = self.tables.scan("designs", self._starts(name), limit=2)
        return self._only(from_table(DesignRecord, found), name, "design")

    @answering
    def environments(
        self,
        *,
        setting: str = "",
        skill: str = "",
        status: str = "",
        shard: int | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[EnvironmentRecord]:
        """Return the environments that pass every filter given, by shard, then id."""
        self._refresh()
        where = search.filters(setting, skill, shard)
        if ids is not None:
            where = " AND ".join(filter(None, [where, any_of("id", ids)]))
        found = from_table(EnvironmentRecord, self.tables.scan("environments", where))
        if status:
            search.check_known("status", status, STATUSES)
            latest = self.latest_standings()
            found = [one for one in found if search.status_of(latest.get(one.id)) == status]
        if skill and not found:
            search.check_skill(skill, self.skills())
        return sorted(found, key=lambda one: (one.shard, one.id))

    @answering
    def scan(self, table: str, where: str = "", columns: list[str] | None = None) -> pa.Table:
        """Return the rows of a table of ``memory.tables`` that pass a SQL filter."""
        self._refresh()
        return self.tables.scan(table, where, columns)

    @answering
    def skills(self) -> list[str]:
        """Return every skill that an environment of the store has, in order."""
        self._refresh()
        column = self.tables.scan("environments", columns=["skills"]).column("skills")
        return sorted(pc.unique(pc.list_flatten(column)).to_pylist())

    @answering
    def lineage(self, environment: EnvironmentRecord) -> Lineage:
        """Return the ancestors and descendants of an environment, the nearest first."""
        self._refresh()
        return lineage.trace(self.tables, environment.id, environment.parents)

    @answering
    def plays(self, environment: str) -> list[PlayRecord]:
        """Return the plays of one environment (full id): its shard's, then by policy version."""
        self._refresh()
        found = self.tables.scan("plays", f"environment = {quoted(environment)}")
        order = [("shard", "descending"), ("policy_version", "ascending"), ("id", "ascending")]
        return from_table(PlayRecord, found.sort_by(order))

    @answering
    def standings(self, environment: str) -> list[StandingRecord]:
        """Return the standings of one environment (full id), oldest policy version first."""
        self._refresh()
        found = self.tables.scan("standings", f"environment = {quoted(environment)}")
        return sorted(from_table(StandingRecord, found), key=lambda one: one.policy_version)

    @answering
    def latest_standings(self, policy_version: int | None = None) -> Latest:
        """Return each environment's newest standing (of at most ``policy_version``), by id."""
        self._refresh()
        rows, latest = self._standings()
        if policy_version is None:
            return latest
        return Latest({o.environment: o for o in rows if o.policy_version <= policy_version})

    def _standings(self) -> tuple[list[StandingRecord], Latest]:
        """All standings by policy version, and the newest of each environment."""
        with self._lock:
            version = (self.tables.uri, int(self.tables.table("standings").version))
            if self._latest is None or self._latest[0] != version:
                rows = from_table(StandingRecord, self.tables.scan("standings"))
                rows.sort(key=lambda one: one.policy_version)
                self._latest = (version, rows, Latest({one.environment: one for one in rows}))
            return self._latest[1:]

    @answering
    def search(
        self,
        text: str = "",
        *,
        setting: str = "",
        skill: str = "",
        regret: Band | None = None,
        episode_return: Band | None = None,
        status: str = "",
        shard: int | None = None,
        like: str = "",
        limit: int = 10,
    ) -> list[Hit]:
        """Return the best matches by meaning and words, or the neighbours of ``like``.

        Without either, whatever passes the filters, greatest regret first. ``regret`` and
        ``episode_return`` are inclusive (low, high) bands of the newest standing. Raises
        ``BadInput``.
        """
        self.embed()
        query = search.Query(
            text=text,
            like=self.environment(like).id if like else "",
            setting=setting,
            skill=skill,
            shard=shard,
            regret=regret,
            episode_return=episode_return,
            status=status,
            limit=limit,
        )
        _, latest = self._standings()
        ranked = search.rank(self.tables, self.embedder, query, latest)
        if skill and not ranked:
            search.check_skill(skill, self.skills())
        found = self.tables.scan("environments", any_of("id", [one.id for one in ranked]))
        records = {one.id: one for one in from_table(EnvironmentRecord, found)}
        return [
            Hit(records[one.id], one.score, one.similarity, latest.get(one.id))
            for one in ranked
            if one.id in records
        ]

    @answering
    def examples(
        self,
        skill: str,
        setting: str,
        standings: Mapping[str, StandingRecord],
        seed: int,
        n: int = 2,
    ) -> Examples:
        """Choose examples for a brief by ``seed``: up to ``n`` per list, of one skill and setting.

        Frontier ones are drawn from the ``4 n`` of greatest regret, those to avoid from all that
        are mastered, hopeless or hint-only, by ``standings``; others are not looked at.
        """
        self._refresh()
        where = search.filters(setting, skill, None)
        ids = self.tables.scan("environments", where, ["id"]).column("id").to_pylist()
        frontier, avoid = choose(ids, standings, seed, n)
        records = {one.id: one for one in self.environments(ids=[*frontier, *avoid])}
        return Examples(
            tuple(records[one] for one in frontier), tuple(records[one] for one in avoid)
        )

    @answering
    def diversity_filter(self) -> DiversityFilter:
        """Return a filter that knows every environment of the store."""
        self._refresh()
        with self._lock:
            return load_filter(self.tables, self.config)

    @answering
    def stats(self) -> Stats:
        """Return the figures of the store. Embeds what is missing for the Vendi scores."""
        self.embed()
        return stats.collect(self.tables, self.shards(), self.latest_standings(), self.config)

    @answering
    def funnel(self) -> Funnel:
        """Return how many designs ended where; nothing is embedded for it."""
        columns = ["outcome", "stage", "reason"]
        return stats.funnel_of(self.scan("designs", columns=columns).to_pylist())

    # Upkeep

    @answering
    def rebuild(self) -> int:
        """Make the tables again from shards and logs, embeddings too; return how many sources."""
        with self._embedding, self._lock:
            self._latest = None
            count = self._indexer.rebuild()
            self._indexer.embed_missing()
        return count

    @answering
    def verify(self) -> list[str]:
        """Recompute every digest and compare the tables; return a line per thing that is wrong."""
        problems = shards.verify(self.place / "shards")
        for log in ("plays", "standings"):
            problems += shards.verify_logs(self.place / log)
        problems += releases.verify(self.place)
        if not problems:
            self._refresh()
            problems += self._indexer.verify()
        return problems

    @answering
    def compact(self) -> None:
        """Compact every table now (it happens by itself as tables grow)."""
        self._refresh()
        with self._lock:
            self.tables.compact_all()

    @staticmethod
    def _starts(name: str) -> str:
        if not 4 <= len(name) <= 64 or not set(name) <= _HEX:
            raise BadInput(
                f"{name!r} is not an id: give at least 4 hex digits of one "
                "(`spadework search` shows ids)"
            )
        return f"id >= {quoted(name)} AND id < {quoted(name + 'g')}"

    @staticmethod
    def _only(found: list[Found], name: str, kind: str) -> Found:
        if not found:
            raise NotThere(f"no {kind} {name} in the store; `spadework search` shows ids")
        if len(found) > 1:
            raise BadInput(f"{name} is the start of several ids; give more digits")
        return found[0]
