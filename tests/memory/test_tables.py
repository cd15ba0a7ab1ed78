"""The tables keep keys unique, find neighbours with and without an index, and quote text."""

import re

import numpy as np
import pyarrow as pa
import pytest

from memory.config import MemoryConfig
from memory.schema import EnvironmentRecord, to_table
from memory.tables import Tables, any_of, quoted

WIDTH = 384


@pytest.fixture
def tables(tmp_path):
    return Tables(str(tmp_path), MemoryConfig(fresh_s=0.0, exact_below=500), lambda: WIDTH)


def _vectors(count, seed=0):
    found = np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    table = pa.table(
        {
            "id": [f"e{number}" for number in range(count)],
            "shard": pa.array([1] * count, pa.int32()),
            "setting": ["game" if number % 2 else "tool_use" for number in range(count)],
            "skills": [["optimisation"]] * count,
            "words": ["pack a lorry"] * count,
            "model": ["m"] * count,
            "embedding": pa.FixedSizeListArray.from_arrays(pa.array(found.reshape(-1)), WIDTH),
        }
    )
    return found, table


def test_a_large_table_is_searched_through_an_index_and_finds_the_same(tables):
    vectors, rows = _vectors(600)
    tables.insert("vectors", rows)
    exact = [[one for one, _ in tables.nearest(list(v), "", 10)] for v in vectors[:20]]
    assert [row[0] for row in exact] == [f"e{number}" for number in range(20)]
    tables.ensure_indexes("vectors")
    kinds = {index.index_type for index in tables.table("vectors").list_indices()}
    assert "IvfSq" in kinds
    indexed = [[one for one, _ in tables.nearest(list(v), "", 10)] for v in vectors[:20]]
    shared = [len(set(a) & set(b)) for a, b in zip(exact, indexed, strict=True)]
    assert sum(shared) >= 0.98 * 200


def test_an_index_that_is_updated_often_stays_in_few_parts_and_holds_every_row(tmp_path):
    config = MemoryConfig(fresh_s=0.0, exact_below=500, compact_every=1)
    tables = Tables(str(tmp_path), config, lambda: WIDTH)
    _, rows = _vectors(1200)
    for start in range(0, 1200, 100):
        tables.insert("vectors", rows.slice(start, 100))
        tables.compact("vectors")
    stats = tables.table("vectors").index_stats("embedding_idx")
    assert stats.num_indices <= 4 and stats.num_unindexed_rows == 0
    tables.compact("vectors", force=True)
    assert tables.table("vectors").index_stats("embedding_idx").num_indices == 1


def test_an_index_keeps_its_partitions_when_rows_are_added(tables):
    # With a few large partitions every search would read most of the table.
    vectors, rows = _vectors(3000)
    tables.insert("vectors", rows.slice(0, 2900))
    tables.compact("vectors", force=True)
    tables.insert("vectors", rows.slice(2900))
    tables.table("vectors").optimize()
    query = tables.table("vectors").search(vectors[0], vector_column_name="embedding")
    plan = query.distance_type("cosine").nprobes(4).limit(5).analyze_plan()
    assert max(int(count) for count in re.findall(r"partitions_ranked=(\d+)", plan)) >= 40


def test_what_one_row_of_a_large_table_is_found_by_stays_indexed(tables, make):
    for number in range(20):
        rows = to_table(EnvironmentRecord, [make.environment(number)])
        tables.insert("environments", rows)
        tables.refresh_indexes("environments")
    stats = tables.table("environments").index_stats("id_idx")
    assert stats.num_unindexed_rows < 16
    wanted = make.environment(19).id
    assert tables.scan("environments", f"id = {quoted(wanted)}").num_rows == 1


def test_neighbours_pass_the_filter(tables):
    vectors, rows = _vectors(40)
    tables.insert("vectors", rows)
    found = tables.nearest(list(vectors[0]), "setting = 'game'", 40)
    assert len(found) == 20
    assert "e0" not in dict(found)
    assert found[0][1] <= 1.0


def test_a_key_twice_in_one_batch_is_one_row(tables):
    marks = pa.table({"name": ["a", "b", "a"], "content": ["1", "2", "3"]})
    assert tables.insert("indexed", marks) == 2
    assert tables.insert("indexed", marks) == 0
    rows = tables.scan("indexed").to_pylist()
    assert sorted(row["content"] for row in rows) == ["1", "2"]


def test_rows_that_another_handle_writes_are_seen(tables, tmp_path):
    other = Tables(str(tmp_path), tables.config, lambda: WIDTH)
    assert tables.scan("indexed").num_rows == 0
    other.insert("indexed", pa.table({"name": ["a"], "content": ["1"]}))
    assert tables.scan("indexed").num_rows == 1


def test_text_in_filters_is_only_text(tables):
    name = "it's '); --"
    tables.insert("indexed", pa.table({"name": [name], "content": ["1"]}))
    assert tables.scan("indexed", f"name = {quoted(name)}").num_rows == 1
    assert tables.scan("indexed", any_of("name", ["x", name])).num_rows == 1
    assert tables.scan("indexed", any_of("name", [])).num_rows == 0


def test_a_reader_pinned_to_a_version_survives_compaction(tables):
    for number in range(8):
        tables.insert("indexed", pa.table({"name": [f"a{number}"], "content": ["1"]}))
    pinned = tables._connect().open_table("indexed")
    pinned.checkout(pinned.version)
    tables.insert("indexed", pa.table({"name": ["later"], "content": ["1"]}))
    assert tables.compact("indexed", force=True)
    assert pinned.search().to_arrow().num_rows == 8
    assert tables.scan("indexed").num_rows == 9


def test_a_dropped_table_comes_back_empty(tables):
    tables.insert("indexed", pa.table({"name": ["a"], "content": ["1"]}))
    tables.drop("indexed")
    assert tables.scan("indexed").num_rows == 0
