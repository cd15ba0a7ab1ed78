"""Records survive Parquet exactly, also in files with no or odd first rows."""

import dataclasses
import math

import pyarrow as pa
import pytest

from memory.schema import (
    SCHEMAS,
    DesignRecord,
    EnvironmentRecord,
    PlayRecord,
    StandingRecord,
    content_digest,
    environment_id,
    from_table,
    to_table,
)
from memory.shards import parquet, table_of


def _sets(make):
    empty = {"skills": (), "parents": (), "title": "", "description": "", "tools": ""}
    return {
        EnvironmentRecord: [make.environment(0, **empty), make.environment(1, parents=("a", "b"))],
        DesignRecord: [
            make.design(0, ids=(), prompt_ids=(), logprobs=(), reward=None),
            make.design(1, reward=-0.125),
        ],
        PlayRecord: [
            make.play(0, episode_return=None, ids=(), mask=(), logprobs=(), fault="timeout"),
            make.play(1),
        ],
        StandingRecord: [make.standing("a"), make.standing("b", 3, hint_only=True)],
    }


def _back(kind, table):
    return from_table(kind, table_of(kind, parquet(table)))


def test_every_record_survives_parquet_exactly(make):
    for kind, records in _sets(make).items():
        assert _back(kind, to_table(kind, records)) == records


def test_zero_rows_and_an_empty_first_row_have_the_same_schema_as_any_other(make):
    for kind, records in _sets(make).items():
        for rows in ([], records[:1], records):
            table = to_table(kind, rows)
            assert table.schema.equals(SCHEMAS[kind])
            assert _back(kind, table) == rows


def test_no_column_is_a_struct_or_null_typed():
    for schema in SCHEMAS.values():
        for field in schema:
            assert not pa.types.is_struct(field.type)
            assert not pa.types.is_null(field.type)


def test_nan_figures_survive(make):
    record = make.standing("a", regret=math.nan)
    (back,) = _back(StandingRecord, to_table(StandingRecord, [record]))
    assert math.isnan(back.regret)
    assert dataclasses.replace(back, regret=0.0) == dataclasses.replace(record, regret=0.0)


def test_hostile_text_survives_and_lone_surrogates_become_question_marks(make):
    text = "\x1b[2J\x00 \u202e ünï \U0001f600"
    record = make.environment(0, title=text, description="half \ud83d")
    (back,) = _back(EnvironmentRecord, to_table(EnvironmentRecord, [record]))
    assert back.title == text
    assert back.description == "half ?"
    assert content_digest([record]) == content_digest([back])


def test_a_value_of_the_wrong_type_is_refused_with_its_column(make):
    with pytest.raises(ValueError, match=r"EnvironmentRecord\.difficulty"):
        to_table(EnvironmentRecord, [make.environment(0, difficulty="hard")])
    with pytest.raises(ValueError, match=r"EnvironmentRecord\.hint"):
        to_table(EnvironmentRecord, [make.environment(0, hint=None)])


def test_more_columns_than_the_record_has_are_ignored(make):
    table = to_table(StandingRecord, [make.standing("a")])
    table = table.append_column("words", pa.array(["x"]))
    assert from_table(StandingRecord, table) == [make.standing("a")]


def test_an_id_depends_on_setting_source_and_hint_and_their_borders():
    one = environment_id("game", "ab", "c")
    assert len(one) == 20
    assert int(one, 16) >= 0
    assert one == environment_id("game", "ab", "c")
    others = {
        environment_id("tool_use", "ab", "c"),
        environment_id("game", "a", "bc"),
        environment_id("game", "ab", ""),
    }
    assert one not in others
    assert len(others) == 3
