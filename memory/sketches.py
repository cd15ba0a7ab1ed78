"""Keeps the MinHash sketches of all environments: opening the filter parses only new ones."""

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from memory.bands import PERMUTATIONS, Signature
from memory.config import MemoryConfig
from memory.diversity import SCHEME, DiversityFilter, Thresholds, sketch
from memory.tables import Tables, any_of, quoted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

_BATCH = 512


def load_filter(tables: Tables, config: MemoryConfig) -> DiversityFilter:
    """Return a filter over every indexed environment; missing sketches are made and kept."""
    rows = tables.scan("environments", columns=["id", "fingerprint"])
    have = tables.scan("sketches", f"scheme = {quoted(SCHEME)}", ["id"]).column("id")
    missing = rows.column("id").filter(pc.invert(pc.is_in(rows.column("id"), have))).to_pylist()
    for start in range(0, len(missing), _BATCH):
        part = any_of("id", missing[start : start + _BATCH])
        sources = tables.scan("environments", part, ["id", "source"])
        _keep(tables, {row["id"]: sketch(row["source"]) for row in sources.to_pylist()})
    if missing:
        tables.compact("sketches")

    def source_of(one: str) -> str:
        found = tables.scan("environments", f"id = {quoted(one)}", ["source"], limit=1)
        return str(found.column("source")[0].as_py()) if found.num_rows else ""

    def nearest_of(vector: "Array") -> tuple[str, float] | None:
        return next(iter(tables.nearest(vector.tolist(), "", 1)), None)

    thresholds = Thresholds(config.duplicate_jaccard, config.novelty_bar, config.keep_variants)
    known = DiversityFilter((), thresholds, source_of, nearest_of)
    stored = tables.scan("sketches", f"scheme = {quoted(SCHEME)}", ["id", "digest", "signature"])
    # A join leaves its order to chance, and which of two twins is first must not.
    stored = stored.sort_by("id")
    fingerprints = dict(
        zip(rows.column("id").to_pylist(), rows.column("fingerprint").to_pylist(), strict=True)
    )
    ids = stored.column("id").to_pylist()
    known.extend(
        ids,
        stored.column("digest").to_pylist(),
        [fingerprints.get(one, "") for one in ids],
        _matrix(stored.column("signature")),
    )
    return known


def _matrix(column: pa.ChunkedArray) -> "npt.NDArray[np.uint32]":
    import numpy as np

    flat = [chunk.flatten().to_numpy() for chunk in column.chunks]
    return np.concatenate([np.zeros(0, np.uint32), *flat]).reshape(-1, PERMUTATIONS)


def _keep(tables: Tables, found: dict[str, tuple[str, Signature]]) -> None:
    columns = {
        "id": list(found),
        "scheme": [SCHEME] * len(found),
        "digest": [digest for digest, _ in found.values()],
        "signature": [signature for _, signature in found.values()],
    }
    schema = tables.schema("sketches")
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    tables.insert("sketches", pa.Table.from_arrays(arrays, schema=schema))
