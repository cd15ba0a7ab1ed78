"""Immutable shard folders and record logs: the truth, all else is rebuilt from it."""

import datetime as dt
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, cast

import pyarrow as pa

from memory.faults import explain
from memory.places import Place, names
from memory.schema import (
    SCHEMA_VERSION,
    SCHEMAS,
    DesignRecord,
    EnvironmentRecord,
    PlayRecord,
    Record,
    StandingRecord,
    content_digest,
    from_table,
    to_table,
)
from spadekit.errors import BadInput

KINDS: Mapping[str, type] = {
    "environments": EnvironmentRecord,
    "designs": DesignRecord,
    "plays": PlayRecord,
    "standings": StandingRecord,
}


_FOLDER = re.compile(r"[0-9]{6}|[1-9][0-9]{6,}")

MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading a damaged JSON file raises; the last is for one that is nested without end."""


@dataclass(frozen=True)
class Member:
    """One file of a shard: its SHA-256, size in bytes and number of rows."""

    sha256: str
    bytes: int
    rows: int


@dataclass(frozen=True)
class Manifest:
    """What a shard holds. ``content`` is the digest of its records, ``digest`` of this manifest."""

    shard: int
    content: str
    policy_version: int
    config_digest: str
    created: str
    files: Mapping[str, Member]
    meta: Mapping[str, Any]
    digest: str

    def rows(self, name: str) -> int:
        """Return the rows of ``environments``, ``designs``, ``plays`` or ``standings``."""
        return self.files[f"{name}.parquet"].rows


@dataclass(frozen=True)
class ShardData:
    """The records of one shard. ``standings`` are those measured when it was published."""

    manifest: Manifest
    environments: tuple[EnvironmentRecord, ...]
    designs: tuple[DesignRecord, ...]
    plays: tuple[PlayRecord, ...]
    standings: tuple[StandingRecord, ...]


def folder_of(root: Place, shard: int) -> Place:
    """Return where a shard lies."""
    return root / f"{shard:06d}"


def numbers(root: Place, known: Callable[[str], bool] = lambda _: False) -> list[int]:
    """Return the numbers of the published shards in order; a ``known`` folder is not looked into.

    An empty folder is no shard, nor is what an interrupted upload to object storage left: there the
    manifest comes last. On a disk shards appear by rename, so one without a manifest was damaged
    and counts, for `manifest` to name it.
    """
    if not root.remote:
        found = [name for name in root.folders() if _FOLDER.fullmatch(name)]
        return sorted(int(name) for name in found if known(name) or not (root / name).empty())
    manifests = [PurePosixPath(name) for name in root.files() if name.endswith("/manifest.json")]
    return sorted(int(one.parts[0]) for one in manifests if _FOLDER.fullmatch(one.parts[0]))


def publish(
    root: Place,
    shard: int,
    records: Mapping[str, Sequence[Any]],
    meta: Mapping[str, Any],
) -> Manifest:
    """Write a shard aside, sync it and rename it into place; return its manifest.

    ``meta`` may carry ``policy_version`` and ``config_digest``; other keys are kept under ``meta``.
    Publishing the same records again changes nothing. Raises ``BadInput`` when the shard is there
    with other records, or when a record is malformed.
    """
    _check(shard, records)
    try:
        tables = {name: to_table(kind, records[name]) for name, kind in KINDS.items()}
    except ValueError as error:
        raise BadInput(f"shard {shard} cannot be published: {error}") from None
    content = _content({name: from_table(KINDS[name], table) for name, table in tables.items()})
    folder = folder_of(root, shard)
    if shard in numbers(root):
        return _same(root, shard, content)
    rest = dict(meta)
    files = {f"{name}.parquet": parquet(table) for name, table in tables.items()}
    body = {
        "schema": SCHEMA_VERSION,
        "shard": shard,
        "content": content,
        "policy_version": int(rest.pop("policy_version", 0)),
        "config_digest": str(rest.pop("config_digest", "")),
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "files": {
            f"{name}.parquet": {
                "sha256": hashlib.sha256(files[f"{name}.parquet"]).hexdigest(),
                "bytes": len(files[f"{name}.parquet"]),
                "rows": table.num_rows,
            }
            for name, table in tables.items()
        },
        "meta": rest,
    }
    files["manifest.json"] = json_bytes({**body, "digest": digest_of(body)})
    try:
        if folder.publish(files):
            return manifest(root, shard)
    except OSError as error:
        raise BadInput(explain(error, str(folder))) from None
    return _same(root, shard, content)  # somebody else was first


def manifest(root: Place, shard: int) -> Manifest:
    """Read and check the manifest of a shard. Raises ``BadInput`` naming file and next step."""
    path = folder_of(root, shard) / "manifest.json"
    try:
        body = json.loads(path.read())
        if body.get("schema", 0) > SCHEMA_VERSION:
            raise BadInput(
                f"{path}: written by a newer version (schema {body['schema']}); upgrade spadework"
            )
        digest = body.pop("digest")
        if digest != digest_of(body):
            raise BadInput(f"{path}: its digest does not match its content; restore it from a copy")
        return Manifest(
            shard=body["shard"],
            content=body["content"],
            policy_version=body["policy_version"],
            config_digest=body["config_digest"],
            created=body["created"],
            files={name: Member(**member) for name, member in body["files"].items()},
            meta=body["meta"],
            digest=digest,
        )
    except FileNotFoundError:
        known = numbers(root)
        if shard in known:
            raise BadInput(
                f"{folder_of(root, shard)}: a shard without a manifest; restore it from a copy, or move the "
                "folder away"
            ) from None
        have = f"the store has {known[0]} to {known[-1]}" if known else "the store has none yet"
        raise BadInput(f"no shard {shard}; {have}") from None
    except (OSError, *MALFORMED) as error:
        raise BadInput(f"{path}: not a manifest ({error}); restore it from a copy") from None


def read(root: Place, shard: int) -> ShardData:
    """Read a shard, every file checked against the manifest's sum. Raises ``BadInput``."""
    head = manifest(root, shard)
    found = {name: read_member(root, head, name) for name in KINDS}
    return ShardData(
        head,
        tuple(found["environments"]),
        tuple(found["designs"]),
        tuple(found["plays"]),
        tuple(found["standings"]),
    )


def read_member(root: Place, head: Manifest, name: str) -> list[Any]:
    """Read the records of one file of a shard, checked against the manifest's sum."""
    return from_table(KINDS[name], member_table(root, head, name))


def member_table(root: Place, head: Manifest, name: str) -> pa.Table:
    """Read one file of a shard as an Arrow table, checked against the manifest's sum."""
    return table_of(KINDS[name], member_bytes(root, head, name))


def member_bytes(root: Place, head: Manifest, name: str) -> bytes:
    """Read one file of a shard, checked against the manifest's sum. Raises ``BadInput``."""
    file = f"{name}.parquet"
    problem, data = _checked(folder_of(root, head.shard) / file, head.files[file])
    if problem:
        raise BadInput(f"{problem}; restore it from a copy (`spadework memory verify` lists all)")
    return data


def verify(root: Place) -> list[str]:
    """Recompute every digest; return one line for each thing that is wrong."""
    problems = []
    for shard in numbers(root):
        try:
            head = manifest(root, shard)
        except BadInput as error:
            problems.append(str(error))
            continue
        if head.shard != shard:
            problems.append(f"{folder_of(root, shard)}: its manifest says shard {head.shard}")
        good = True
        for name, member in head.files.items():
            problem, _ = _checked(folder_of(root, shard) / name, member)
            good = good and not problem
            problems += [problem] if problem else []
        if good:
            records = {name: read_member(root, head, name) for name in KINDS}
            if _content(records) != head.content:
                problems.append(f"{folder_of(root, shard)}: its records differ from the manifest's")
    return problems


def append_log(folder: Place, kind: type[Record], records: Sequence[Record]) -> Place:
    """Write records as one immutable file named by the SHA-256 of its bytes; return its path."""
    try:
        data = parquet(to_table(kind, records))
        path = folder / f"{hashlib.sha256(data).hexdigest()[:32]}.parquet"
        path.create(data)
    except ValueError as error:
        raise BadInput(f"records cannot be stored: {error}") from None
    except OSError as error:
        raise BadInput(explain(error, str(folder))) from None
    return path


def logs(folder: Place) -> list[str]:
    """Return the names of the log files in a folder, in order."""
    return list(names(folder, ".parquet"))


def read_log(path: Place, kind: type[Record]) -> list[Record]:
    """Read the records of one log file, checked against its name. Raises ``BadInput``."""
    return cast(list[Record], from_table(kind, table_of(kind, log_bytes(path))))


def log_bytes(path: Place) -> bytes:
    """Read one log file, checked against its name. Raises ``BadInput``."""
    try:
        data = path.read()
    except OSError as error:
        raise BadInput(explain(error, str(path))) from None
    if problem := _log_problem(path, data):
        raise BadInput(f"{problem}; restore it from a copy or move it away")
    return data


def verify_logs(folder: Place) -> list[str]:
    """Return one line for each log file whose bytes do not match its name."""
    problems = []
    for name in logs(folder):
        try:
            problems.append(_log_problem(folder / name, (folder / name).read()))
        except OSError as error:
            problems.append(explain(error, str(folder / name)))
    return [problem for problem in problems if problem]


def parquet(table: pa.Table) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(table, out, compression="zstd", row_group_size=20_000)
    return bytes(out.getvalue())


def table_of(kind: type, data: bytes) -> pa.Table:
    """Return the table in the bytes of a Parquet file, with the schema of ``kind``."""
    import pyarrow.parquet as pq

    return pq.read_table(pa.BufferReader(data), schema=SCHEMAS[kind])


def _check(shard: int, records: Mapping[str, Sequence[Any]]) -> None:
    if shard < 1:
        raise BadInput(f"shard {shard}: numbers start at 1")
    for name in ("environments", "designs"):
        wrong = [record.id for record in records[name] if record.shard != shard]
        if wrong:
            raise BadInput(f"shard {shard}: {name} {wrong[0]} says it belongs to another shard")
    for name in ("environments", "designs", "plays"):
        ids = [record.id for record in records[name]]
        if len(set(ids)) != len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            raise BadInput(f"shard {shard}: {name} {twice} stands in it twice")


def _content(records: Mapping[str, Sequence[Any]]) -> str:
    parts = [content_digest(records[name]) for name in KINDS]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _same(root: Place, shard: int, content: str) -> Manifest:
    head = manifest(root, shard)
    if head.content != content:
        raise BadInput(
            f"shard {shard} is already published with other records; shards never change, "
            f"publish these as a new one (next: {numbers(root)[-1] + 1})"
        )
    return head


def digest_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a JSON object, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """Return a JSON object as a file, keys in the order given."""
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def _checked(path: Place, member: Member) -> tuple[str, bytes]:
    try:
        data = path.read()
    except OSError as error:
        return f"{path}: cannot be read ({error.strerror or 'it is not there'})", b""
    if hashlib.sha256(data).hexdigest() != member.sha256:
        return f"{path}: its SHA-256 differs from the manifest's", b""
    return "", data


def _log_problem(path: Place, data: bytes) -> str:
    if hashlib.sha256(data).hexdigest()[:32] != path.name.removesuffix(".parquet"):
        return f"{path}: its SHA-256 differs from its name"
    return ""
