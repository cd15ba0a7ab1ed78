"""Hundreds of thousands of environments: publishing, search with a filter, many small commits."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bench.memory import synthetic
from bench.memory.synthetic import Array
from bench.statistics import quantile
from bench.throughput.row import Row
from memory import MemoryConfig, Store
from memory.schema import EnvironmentRecord, to_table
from memory.tables import Tables

SHARD = 5_000
QUERIES = 100
WARM = 5
EXTRA = 1_000  # numbers kept for small commits


def environments(folder: Path, count: int, commits: int) -> list[Row]:
    """Publish ``count`` environments with 4 KB sources, search them, commit little by little."""
    vectors_ND = synthetic.unit_vectors(count + EXTRA)
    asked_QD = synthetic.queries(vectors_ND[:count], QUERIES)
    embedder = synthetic.Numbered(np.concatenate([vectors_ND, asked_QD]))
    with Store.open(folder / "store", MemoryConfig(), create=True, embedder=embedder) as store:
        rows = [_publish(store, count, folder / "plain")]
        began = time.perf_counter()
        store.embed()
        store.latest_standings()
        seconds = time.perf_counter() - began
        rows.append(_row("ready to search after", seconds, "s", count))
        ids, known = _held(store)
        first = count + EXTRA
        exact = _exact_ms(known, asked_QD)
        rows += _searches(store, first, exact, f"{count:,} environments")
        rows += _recalls(store.tables, ids, known, asked_QD, count)
        for number in range(commits):
            _commit(store, count + number % EXTRA, 1_000_000 + number)
        rows += _searches(store, first, exact, f"after {commits} small commits")
    return rows


def vectors(folder: Path, count: int) -> list[Row]:
    """Search ``count`` vectors through the index, with nothing else in the store."""
    vectors_ND = synthetic.unit_vectors(count)
    asked_QD = synthetic.queries(vectors_ND, QUERIES)
    tables = Tables(str((folder / "vectors").resolve()), MemoryConfig(), lambda: synthetic.WIDTH)
    began = time.perf_counter()
    for start in range(0, count, 50_000):
        tables.insert("vectors", _vector_rows(vectors_ND, start, min(count, start + 50_000)))
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    tables.compact("vectors", force=True)
    indexing = time.perf_counter() - began
    ids = [f"v{number}" for number in range(count)]
    name = f"{count:,} vectors"
    return [
        _row(f"{name}: insert", count / seconds, "rows/s", count),
        _row(f"{name}: index built in", indexing, "s", count),
        *_recalls(tables, ids, vectors_ND, asked_QD, count),
    ]


def _publish(store: Store, count: int, plain: Path) -> Row:
    ours = theirs = 0.0
    peer = _plain_table(plain)
    for shard, start in enumerate(range(0, count, SHARD), start=1):
        numbers = range(start, min(count, start + SHARD))
        records = [synthetic.environment(number, shard) for number in numbers]
        standings = [
            synthetic.standing(one, number) for one, number in zip(records, numbers, strict=True)
        ]
        began = time.perf_counter()
        store.publish(shard, records, [], [], standings, meta={})
        middle = time.perf_counter()
        peer(records)
        ours += middle - began
        theirs += time.perf_counter() - middle
    return _row(
        f"publish, shards of {SHARD:,}",
        count / ours,
        "rows/s",
        count,
        "lancedb add",
        count / theirs,
    )


def _plain_table(folder: Path) -> Callable[[list[EnvironmentRecord]], object]:
    """Return the plain way: rows added to a table, no shard, no digest, no key."""
    import lancedb

    database = lancedb.connect(str(folder.resolve()))
    schema = to_table(EnvironmentRecord, []).schema
    table = database.create_table("environments", schema=schema)
    return lambda records: table.add(to_table(EnvironmentRecord, records))


def _searches(store: Store, first: int, exact_ms: float, name: str) -> list[Row]:
    """Search by meaning and words with filters on status and skill."""
    rows = []
    filters: dict[str, dict[str, Any]] = {
        "status and setting": {"status": "frontier", "setting": "game"},
        "skill": {"skill": "optimisation"},
    }
    for what, filter_ in filters.items():
        taken = []
        for number in range(QUERIES):
            words = " ".join(synthetic.WORDS[(number + step) % 50] for step in (0, 7, 19))
            began = time.perf_counter()
            store.search(f"{words} #{first + number}", **filter_)
            taken.append((time.perf_counter() - began) * 1e3)
        taken = taken[WARM:]
        for label, share in (("median", 0.5), ("p99", 0.99)):
            value = quantile(taken, share)
            measure = f"hybrid search by {what}, {name}, {label}"
            rows.append(_row(measure, value, "ms", len(taken), "exact with NumPy", exact_ms))
    return rows


def _recalls(
    tables: Tables, ids: list[str], known_ND: Array, asked_QD: Array, count: int
) -> list[Row]:
    exact, peer = [], []
    for query_D in asked_QD:
        began = time.perf_counter()
        best = _top(known_ND @ query_D)
        peer.append((time.perf_counter() - began) * 1e3)
        exact.append({ids[row] for row in best})
    found, taken = [], []
    for query_D in asked_QD:
        began = time.perf_counter()
        near = tables.nearest(query_D.tolist(), "", 10)
        taken.append((time.perf_counter() - began) * 1e3)
        found.append({one for one, _ in near})
    recall = sum(len(a & b) for a, b in zip(exact, found, strict=True)) / sum(map(len, exact))
    name = f"nearest of {count:,}"
    median = quantile(taken[WARM:], 0.5)
    return [
        _row(f"{name}: recall@10", recall, "share", QUERIES),
        _row(f"{name}: median", median, "ms", QUERIES, "exact with NumPy", quantile(peer, 0.5)),
    ]


def _exact_ms(known_ND: Array, asked_QD: Array) -> float:
    taken = []
    for query_D in asked_QD[:20]:
        began = time.perf_counter()
        _top(known_ND @ query_D)
        taken.append((time.perf_counter() - began) * 1e3)
    return quantile(taken, 0.5)


def _top(scores_N: Array) -> list[int]:
    best = np.argpartition(-scores_N, min(10, len(scores_N) - 1))[:10]
    return [int(row) for row in best]


def _commit(store: Store, number: int, shard: int) -> None:
    record = synthetic.environment(number, shard)
    store.publish(shard, [record], [], [], [synthetic.standing(record, number)], meta={})
    store.embed()


def _held(store: Store) -> tuple[list[str], Array]:
    rows = store.tables.scan("vectors", columns=["id", "embedding"])
    flat = np.concatenate([chunk.flatten().to_numpy() for chunk in rows["embedding"].chunks])
    return rows["id"].to_pylist(), flat.reshape(rows.num_rows, -1)


def _vector_rows(vectors_ND: Array, start: int, stop: int) -> pa.Table:
    count = stop - start
    flat = pa.array(vectors_ND[start:stop].reshape(-1))
    return pa.table(
        {
            "id": [f"v{number}" for number in range(start, stop)],
            "shard": pa.array([1] * count, pa.int32()),
            "setting": ["game"] * count,
            "skills": [["optimisation"]] * count,
            "words": ["in order"] * count,
            "model": ["synthetic"] * count,
            "embedding": pa.FixedSizeListArray.from_arrays(flat, synthetic.WIDTH),
        }
    )


def _row(
    measure: str, value: float, unit: str, n: int, peer: str = "", peer_value: float | None = None
) -> Row:
    return Row(
        part="memory",
        measure=measure,
        value=value,
        unit=unit,
        n=n,
        peer=peer,
        peer_value=peer_value,
    )
