"""Keeps the MinHash sketches of all environments: opening the filter parses only new ones."""

import pyarrow as pa

from memory.config import MemoryConfig
from memory.diversity import (
    SCHEME,
    DiversityFilter,
    Known,
    Signature,
    Thresholds,
    sketch,
)
from memory.tables import Tables, any_of, quoted

_BATCH = 512


Sketch = tuple[str, Signature]


def load_filter(tables: Tables, config: MemoryConfig) -> DiversityFilter:
    """Return a filter over every indexed environment; missing sketches are made and kept."""
    have = _stored(tables)
    rows = tables.scan("environments", columns=["id", "fingerprint"])
    missing = [one for one in rows.column("id").to_pylist() if one not in have]
    for start in range(0, len(missing), _BATCH):
        part = any_of("id", missing[start : start + _BATCH])
        sources = tables.scan("environments", part, ["id", "source"])
        found = {row["id"]: sketch(row["source"]) for row in sources.to_pylist()}
        _keep(tables, found)
        have.update(found)
    if missing:
        tables.compact("sketches")

    def source_of(one: str) -> str:
        found = tables.scan("environments", f"id = {quoted(one)}", ["source"], limit=1)
        return str(found.column("source")[0].as_py()) if found.num_rows else ""

    known = (
        Known(row["id"], "", have[row["id"]][0], row["fingerprint"], have[row["id"]][1])
        for row in rows.to_pylist()
    )
    thresholds = Thresholds(config.duplicate_jaccard, config.novelty_bar, config.keep_variants)
    return DiversityFilter(known, thresholds, source_of)


def _stored(tables: Tables) -> dict[str, Sketch]:
    columns = ["id", "digest", "signature"]
    rows = tables.scan("sketches", f"scheme = {quoted(SCHEME)}", columns)
    return {row["id"]: (row["digest"], tuple(row["signature"])) for row in rows.to_pylist()}


def _keep(tables: Tables, found: dict[str, Sketch]) -> None:
    columns = {
        "id": list(found),
        "scheme": [SCHEME] * len(found),
        "digest": [digest for digest, _ in found.values()],
        "signature": [signature for _, signature in found.values()],
    }
    schema = tables.schema("sketches")
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    tables.insert("sketches", pa.Table.from_arrays(arrays, schema=schema))
