"""The records of the memory, their Arrow schemas, and the way between the two.

Every column has a fixed type: no structs, no nulls but where ``None`` means something, so that a
file with zero rows or an empty first row has the same schema as any other.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import pyarrow as pa

Record = TypeVar("Record", "EnvironmentRecord", "DesignRecord", "PlayRecord", "StandingRecord")

SCHEMA_VERSION = 1

SETTINGS = ("game", "tool_use")
OUTCOMES = ("admitted", "refused", "duplicate", "faulted")
PURPOSES = ("probe", "train")
LARGEST = 2**31 - 1
"""Shards and policy versions are 32-bit columns."""


@dataclass(frozen=True)
class EnvironmentRecord:
    """A stored program. ``id`` comes from ``environment_id``; JSON columns are text."""

    id: str
    shard: int
    setting: str  # one of SETTINGS
    skills: tuple[str, ...]
    title: str
    description: str
    source: str
    hint: str
    tools: str  # JSON list of OpenAI schemas, "" for games
    difficulty: int  # 1..5, 0 unknown
    certificate: str  # JSON
    policy_version: int
    parents: tuple[str, ...]
    document: str  # id of the corpus document, "" none
    design: str  # id of the design it came from
    digest: str  # of the normalised syntax tree
    fingerprint: str  # of its behaviour, "" unknown
    isolation: str
    decision: str  # JSON of the diversity decision


@dataclass(frozen=True)
class DesignRecord:
    """One completion of the designer, valid or not, or one candidate of an import.

    ``reward`` None: it is not learned from. That is a duplicate, a fault of ours, a program whose hint was
    asked for apart and refused, and whatever was imported.
    """

    id: str
    shard: int
    brief: str  # JSON
    group: str  # whom its reward is compared with: id of the brief, "+turn" for follow-ups; id of the pool
    prompt_ids: tuple[int, ...]
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    text: str
    text_only: bool
    temperature: float
    seed: int
    policy_version: int
    outcome: str  # one of OUTCOMES
    stage: str
    reason: str
    detail: str
    environment: str  # id, or ""
    reward: float | None


@dataclass(frozen=True)
class PlayRecord:
    """One episode. ``episode_return`` None: it faulted. ``mask`` is 1 on sampled ids only."""

    id: str
    environment: str
    seed: int
    arm: str  # "unhinted" or "hinted"
    purpose: str  # one of PURPOSES
    episode_return: float | None
    turns: int
    fault: str  # "" when it went well
    stop: str
    policy_version: int
    temperature: float
    ids: tuple[int, ...]
    mask: tuple[int, ...]
    logprobs: tuple[float, ...]  # 0.0 where the mask is 0
    transcript: str  # JSON list of {role, content}


@dataclass(frozen=True)
class StandingRecord:
    """What was measured of one environment with one policy version, hinted and unhinted; nan: nothing was.

    ``updated`` is a counter chosen by the writer: the record with the larger one wins, but one without
    plays of both arms never takes the place of one that has them.
    """

    environment: str
    policy_version: int
    plays_unhinted: int
    plays_hinted: int
    return_unhinted: float
    return_hinted: float
    regret: float
    regret_low: float
    regret_high: float
    status: str
    hint_only: bool
    updated: int

    @property
    def key(self) -> str:
        """What the record is about: environment and policy version."""
        return f"{self.environment}@{self.policy_version}"

    @property
    def stamp(self) -> str:
        """Orders writes of one key: both arms, ``updated``, content. Any order of arrival ends alike."""
        both = self.plays_unhinted > 0 and self.plays_hinted > 0
        return f"{both:d}-{self.updated:020d}-{content_digest([self])[:12]}"


_INT_LIST = pa.list_(pa.int32())
_FLOAT_LIST = pa.list_(pa.float64())
_TEXT_LIST = pa.list_(pa.string())


def _schema(nullable: Sequence[str], **columns: pa.DataType) -> pa.Schema:
    return pa.schema(
        [pa.field(name, kind, nullable=name in nullable) for name, kind in columns.items()]
    )


ENVIRONMENTS = _schema(
    (),
    id=pa.string(),
    shard=pa.int32(),
    setting=pa.string(),
    skills=_TEXT_LIST,
    title=pa.string(),
    description=pa.string(),
    source=pa.string(),
    hint=pa.string(),
    tools=pa.string(),
    difficulty=pa.int32(),
    certificate=pa.string(),
    policy_version=pa.int32(),
    parents=_TEXT_LIST,
    document=pa.string(),
    design=pa.string(),
    digest=pa.string(),
    fingerprint=pa.string(),
    isolation=pa.string(),
    decision=pa.string(),
)
DESIGNS = _schema(
    ("reward",),
    id=pa.string(),
    shard=pa.int32(),
    brief=pa.string(),
    group=pa.string(),
    prompt_ids=_INT_LIST,
    ids=_INT_LIST,
    logprobs=_FLOAT_LIST,
    text=pa.string(),
    text_only=pa.bool_(),
    temperature=pa.float64(),
    seed=pa.int64(),
    policy_version=pa.int32(),
    outcome=pa.string(),
    stage=pa.string(),
    reason=pa.string(),
    detail=pa.string(),
    environment=pa.string(),
    reward=pa.float64(),
)
PLAYS = _schema(
    ("episode_return",),
    id=pa.string(),
    environment=pa.string(),
    seed=pa.int64(),
    arm=pa.string(),
    purpose=pa.string(),
    episode_return=pa.float64(),
    turns=pa.int32(),
    fault=pa.string(),
    stop=pa.string(),
    policy_version=pa.int32(),
    temperature=pa.float64(),
    ids=_INT_LIST,
    mask=pa.list_(pa.int8()),
    logprobs=_FLOAT_LIST,
    transcript=pa.string(),
)
STANDINGS = _schema(
    (),
    environment=pa.string(),
    policy_version=pa.int32(),
    plays_unhinted=pa.int32(),
    plays_hinted=pa.int32(),
    return_unhinted=pa.float64(),
    return_hinted=pa.float64(),
    regret=pa.float64(),
    regret_low=pa.float64(),
    regret_high=pa.float64(),
    status=pa.string(),
    hint_only=pa.bool_(),
    updated=pa.int64(),
)
SCHEMAS: Mapping[type, pa.Schema] = MappingProxyType(
    {
        EnvironmentRecord: ENVIRONMENTS,
        DesignRecord: DESIGNS,
        PlayRecord: PLAYS,
        StandingRecord: STANDINGS,
    }
)


def environment_id(setting: str, source: str, hint: str) -> str:
    """Return 20 hex digits of SHA-256 over what an environment is."""
    return record_id("environment", setting, source, hint)


def record_id(*parts: str | int | float) -> str:
    """Return 20 hex digits of SHA-256 over ``parts``; a kind first keeps kinds apart."""
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def content_digest(records: Iterable[Any]) -> str:
    """Return the SHA-256 of records as read from a table, however a library writes files."""
    total = hashlib.sha256()
    for record in records:
        # One level of fields, tuples of plain values: `asdict` would copy every token.
        values = [getattr(record, field.name) for field in dataclasses.fields(record)]
        text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
        total.update(text.encode("utf-8", "replace"))  # as `to_table` does with lone surrogates
        total.update(b"\n")
    return total.hexdigest()


def to_table(kind: type[Record], records: Sequence[Record]) -> pa.Table:
    """Return ``records`` as an Arrow table with the fixed schema of ``kind``.

    Lone surrogates, which no file can hold, become ``?``. Raises ``ValueError`` naming the column
    whose value has the wrong type.
    """
    schema = SCHEMAS[kind]
    columns = []
    for field in schema:
        try:
            column = pa.array(_values(field, records), field.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, AttributeError) as error:
            raise ValueError(f"{kind.__name__}.{field.name}: {error}") from None
        if column.null_count and not field.nullable:
            raise ValueError(f"{kind.__name__}.{field.name}: None is not allowed here")
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)


def from_table(kind: type[Record], table: pa.Table) -> list[Record]:
    """Return the records of a table that ``to_table`` made; more columns are ignored."""
    names = SCHEMAS[kind].names
    columns = [
        [tuple(value) for value in column.to_pylist()]
        if pa.types.is_list(column.type)
        else column.to_pylist()
        for column in (table.column(name) for name in names)
    ]
    return [kind(*row) for row in zip(*columns, strict=True)]


def _values(field: pa.Field, records: Sequence[Any]) -> list[Any]:
    values = [getattr(record, field.name) for record in records]
    if pa.types.is_string(field.type):
        return [_encodable(value) for value in values]
    if field.type == _TEXT_LIST:
        return [[_encodable(text) for text in value] for value in values]
    return values


def _encodable(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
