"""The tables of a release load everywhere, whatever rows they have."""

import dataclasses
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from envgen.publish import rows
from envgen.publish.rows import Solution, environment_row
from memory import EnvironmentRecord, StandingRecord
from spadekit.errors import BadInput

STANDING = StandingRecord("", 3, 8, 8, 0.5, 0.75, 0.25, 0.0, 0.5, "frontier", False, 1)


def blank(name: str) -> dict[str, Any]:
    """A row with nothing but nulls and empty values."""
    empty = {pa.string(): "", pa.bool_(): False}
    return {
        field.name: None
        if field.nullable
        else []
        if pa.types.is_list(field.type)
        else empty.get(field.type, 0)
        for field in rows.SCHEMAS[name]
    }


@pytest.mark.parametrize("name", rows.SCHEMAS)
def test_no_column_is_nested_or_without_a_type(name: str) -> None:
    for field in rows.SCHEMAS[name]:
        kind = field.type.value_type if pa.types.is_list(field.type) else field.type
        assert not pa.types.is_nested(kind)
        assert not pa.types.is_null(kind)


@pytest.mark.parametrize("name", rows.SCHEMAS)
@pytest.mark.parametrize("counts", [(0,), (1,), (0, 2), (2, 0, 1)])
def test_zero_rows_nulls_first_and_mixed_shards_load(
    name: str, counts: tuple[int, ...], tmp_path: Path
) -> None:
    filled = blank(name) | {key: 0.5 for key in ("regret", "episode_return") if key in blank(name)}
    for number, count in enumerate(counts):
        some = [blank(name), filled][:count]
        rows.write(tmp_path / f"shard-{number}.parquet", rows.to_table(name, some))
    files, cache = str(tmp_path / "*.parquet"), str(tmp_path / "cache")
    # Nothing but streaming loads a split of no rows at all; a release leaves such a table out.
    found = datasets.load_dataset(
        "parquet", data_files=files, cache_dir=cache, split="train", streaming=not sum(counts)
    )
    assert len(list(found)) == sum(counts)
    if sum(counts):
        assert found.features.arrow_schema.types == rows.SCHEMAS[name].types
    assert pq.read_schema(tmp_path / "shard-0.parquet").equals(rows.SCHEMAS[name])


def test_a_row_has_the_figures_of_certificate_and_standing(
    records: list[EnvironmentRecord],
) -> None:
    row = environment_row(records[0], STANDING, Solution(11, "[]"), "CC0-1.0")
    assert row.keys() == set(rows.ENVIRONMENTS.names)
    assert (row["regret"], row["status"], row["measured_by"]) == (0.25, "frontier", 3)
    assert {row[f"check_{name}"] for name in ("loads", "solvable", "bounded")} == {"pass"}
    assert row["reference_return"] == 1.0
    assert row["distinct_instances"] == 8
    assert 0 <= row["skilless_wins"] < row["skilless_plays"]
    assert row["certificate_sha256"] == rows.sha256(row["certificate"])
    bare = environment_row(records[0], None, Solution(), "")
    assert (bare["regret"], bare["status"], bare["measured_by"]) == (None, "unmeasured", None)


def test_a_damaged_certificate_is_one_line(records: list[EnvironmentRecord]) -> None:
    for damaged in ("{}", "no JSON", '{"checks": 1}', "[]"):
        with pytest.raises(BadInput, match="no certificate that can be read"):
            environment_row(
                dataclasses.replace(records[0], certificate=damaged), None, Solution(), ""
            )
