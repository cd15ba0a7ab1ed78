"""The tables of a release: flat columns with fixed types, so that any reader and any viewer takes them.

No structs and no columns without a type, whatever the rows: a table of no rows has the same schema as
any other. What is nested is JSON text.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from envgen.certificate import Certificate
from envgen.certificate.record import CHECKS
from envgen.publish.origins import Origin
from memory import EnvironmentRecord, StandingRecord
from spadekit.errors import BadInput

ROW_GROUP = 1000
"""Rows that a reader must take at once; the Hub's viewer reads whole groups."""
_TEXTS = pa.list_(pa.string())
_OPTIONAL = frozenset(
    {
        "regret",
        "regret_low",
        "regret_high",
        "return_unhinted",
        "return_hinted",
        "measured_by",
        "solution_seed",
        "reference_return",
        "episode_return",
    }
)


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(
        [pa.field(name, kind, nullable=name in _OPTIONAL) for name, kind in columns.items()]
    )


ENVIRONMENTS = _schema(
    id=pa.string(),
    title=pa.string(),
    setting=pa.string(),
    skills=_TEXTS,
    difficulty=pa.int32(),
    description=pa.string(),
    hint=pa.string(),
    source=pa.string(),
    tools=pa.string(),
    turns=pa.int32(),
    status=pa.string(),
    regret=pa.float64(),
    regret_low=pa.float64(),
    regret_high=pa.float64(),
    return_unhinted=pa.float64(),
    return_hinted=pa.float64(),
    plays_unhinted=pa.int32(),
    plays_hinted=pa.int32(),
    hint_only=pa.bool_(),
    measured_by=pa.int32(),
    solution=pa.string(),
    solution_seed=pa.int64(),
    reference_return=pa.float64(),
    distinct_instances=pa.int32(),
    skilless_wins=pa.int32(),
    skilless_plays=pa.int32(),
    **{f"check_{name}": pa.string() for name in CHECKS},
    certificate_seeds=pa.list_(pa.int64()),
    certificate_turns=pa.list_(pa.int32()),
    certificate_seconds=pa.float64(),
    isolation=pa.string(),
    fingerprint=pa.string(),
    certificate=pa.string(),
    certificate_sha256=pa.string(),
    shard=pa.int32(),
    policy_version=pa.int32(),
    parents=_TEXTS,
    design=pa.string(),
    document=pa.string(),
    document_licence=pa.string(),
    origin=pa.string(),
    origin_place=pa.string(),
    tree_sha256=pa.string(),
    decision=pa.string(),
)
PLAYS = _schema(
    id=pa.string(),
    environment=pa.string(),
    shard=pa.int32(),
    arm=pa.string(),
    seed=pa.int64(),
    episode_return=pa.float64(),
    turns=pa.int32(),
    stop=pa.string(),
    fault=pa.string(),
    purpose=pa.string(),
    policy_version=pa.int32(),
    temperature=pa.float64(),
    transcript=pa.string(),
)
DOCUMENTS = _schema(id=pa.string(), title=pa.string(), licence=pa.string(), text=pa.string())
SCHEMAS: Mapping[str, pa.Schema] = {
    "environments": ENVIRONMENTS,
    "plays": PLAYS,
    "documents": DOCUMENTS,
}
PLAY_COLUMNS = [name for name in PLAYS.names if name != "shard"]
"""What a stored play has of a published one; its tokens stay, being those of one policy."""


@dataclass(frozen=True)
class Solution:
    """A play of the reference solution: its seed and the messages as JSON text.

    ``fault`` says why a certified solution does not play as it did.
    """

    seed: int | None = None
    transcript: str = ""
    fault: str = ""


def environment_row(
    record: EnvironmentRecord,
    standing: StandingRecord | None,
    solution: Solution,
    licence: str,
    origin: Origin | None = None,
) -> dict[str, Any]:
    """Return the row of an environment. ``standing`` None: nothing was measured.

    ``licence`` is that of its document, ``origin`` where it was imported from.
    Raises ``BadInput`` for a damaged certificate.
    """
    certificate = certificate_of(record)
    return {
        "id": record.id,
        "title": record.title,
        "setting": record.setting,
        "skills": list(record.skills),
        "difficulty": record.difficulty,
        "description": record.description,
        "hint": record.hint,
        "source": record.source,
        "tools": record.tools,
        "turns": max(certificate.turns, default=0),
        **_measured(standing),
        "solution": solution.transcript,
        "solution_seed": solution.seed,
        **_figures(certificate),
        **{f"check_{name}": _verdict(certificate, name) for name in CHECKS},
        "certificate_seeds": list(certificate.seeds),
        "certificate_turns": list(certificate.turns),
        "certificate_seconds": certificate.seconds,
        "isolation": record.isolation,
        "fingerprint": record.fingerprint,
        "certificate": record.certificate,
        "certificate_sha256": sha256(record.certificate),
        "shard": record.shard,
        "policy_version": record.policy_version,
        "parents": list(record.parents),
        "design": record.design,
        "document": record.document,
        "document_licence": licence,
        "origin": origin.address if origin else "",
        "origin_place": origin.place if origin and origin.address else "",
        "tree_sha256": record.digest,
        "decision": record.decision,
    }


def certificate_of(record: EnvironmentRecord) -> Certificate:
    """Return the certificate of a stored environment. Raises ``BadInput`` for a damaged one."""
    try:
        return Certificate.from_json(record.certificate)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"environment {record.id} of shard {record.shard} has no certificate that can be read "
            f"({type(error).__name__}: {error}); release other shards"
        ) from None


def to_table(name: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as the table of that name, with its schema whatever the rows."""
    schema = SCHEMAS[name]
    columns = [pa.array([row[field.name] for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def write(path: Path, table: pa.Table) -> None:
    """Write a table as a Parquet file; without rows it has no row group, as `datasets` needs it."""
    with pq.ParquetWriter(path, table.schema, compression="zstd", write_page_index=True) as writer:
        if table.num_rows:
            writer.write_table(table, row_group_size=ROW_GROUP)


def content_digest(table: pa.Table) -> str:
    """Return the SHA-256 of a table's rows, however a library writes files."""
    total = hashlib.sha256()
    for row in table.to_pylist():
        total.update(json.dumps(row, sort_keys=True, ensure_ascii=False).encode() + b"\n")
    return total.hexdigest()


def sha256(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _measured(standing: StandingRecord | None) -> dict[str, Any]:
    one = standing
    return {
        "status": one.status if one else "unmeasured",
        "regret": _known(one.regret if one else None),
        "regret_low": _known(one.regret_low if one else None),
        "regret_high": _known(one.regret_high if one else None),
        "return_unhinted": _known(one.return_unhinted if one else None),
        "return_hinted": _known(one.return_hinted if one else None),
        "plays_unhinted": one.plays_unhinted if one else 0,
        "plays_hinted": one.plays_hinted if one else 0,
        "hint_only": one.hint_only if one else False,
        "measured_by": one.policy_version if one else None,
    }


def _known(value: float | None) -> float | None:
    """Nothing measured is a null: a column with nan in it cannot be sorted by everybody."""
    return None if value is None or math.isnan(value) else value


def _figures(certificate: Certificate) -> dict[str, Any]:
    solvable, seeded, nontrivial = (
        _evidence(certificate, name) for name in ("solvable", "seeded", "nontrivial")
    )
    returns = [float(value) for value in solvable.get("returns", ())]
    # "answers" counts pairs of equal answers, not plays.
    players = [
        one for name, one in nontrivial.items() if isinstance(one, dict) and name != "answers"
    ]
    return {
        "reference_return": math.fsum(returns) / len(returns) if returns else None,
        "distinct_instances": int(seeded.get("distinct", 0)),
        "skilless_wins": sum(int(one.get("wins", 0)) for one in players),
        "skilless_plays": sum(int(one.get("plays", 0)) for one in players),
    }


def _evidence(certificate: Certificate, name: str) -> Mapping[str, Any]:
    check = certificate.check(name)
    return check.evidence if check else {}


def _verdict(certificate: Certificate, name: str) -> str:
    check = certificate.check(name)
    return check.verdict if check else ""
