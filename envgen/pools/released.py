"""A release of ours as a pool: its manifest vouches for certificates, so they are not made again.

The sums say that files are those that were published, not that whoever published them told the truth;
a certificate says nothing about safety in any case, and everything runs in a jail.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from envgen.certificate import Certificate, code_digest
from envgen.certificate.record import CHECKS
from envgen.hub import NAME as ADDRESS
from envgen.hub import SCHEME
from envgen.pools.candidate import Candidate, Found, Unusable, skills_of, unusable
from envgen.pools.work import Pool
from envgen.publish import manifest
from envgen.publish.manifest import NAME, ReleaseManifest, is_release
from envgen.publish.rows import ENVIRONMENTS, sha256
from memory import environment_id
from sandbox import printable
from spadekit.errors import BadInput

BATCH = 256
_COLUMNS = (
    "id",
    "setting",
    "skills",
    "difficulty",
    "source",
    "hint",
    "certificate",
    "certificate_sha256",
    "parents",
    "document",
)
_COMMIT = re.compile(r"[0-9a-f]{7,40}")


def open_release(folder: Path, uri: str, largest: int, recheck: bool, asked: str = "") -> Pool:
    """Return the release in ``folder`` as a pool. Raises ``BadInput`` for a tag that has moved.

    ``asked`` is the Hub's address as it was given; ``recheck``: leave out what the manifest vouches for.
    """
    held = manifest.read(folder)
    tag = tag_of(asked)
    if tag and tag != held.tag:
        raise BadInput(
            f"{asked}: this tag holds the release `{held.tag}`, so it was moved; if you trust who moved "
            f"it, import {uri}"
        )
    note = ""
    if not recheck and held.checks != code_digest():
        note = f"{uri}: certified by other checks than these; --recheck certifies it again"
    return Pool(
        uri,
        lambda: read_release(folder, held, largest, recheck),
        # They were compared with each other before they were admitted, maybe under other thresholds.
        alike=True,
        asked=asked if tag else "",
        note=note,
    )


def tag_of(asked: str) -> str:
    """Return the tag in the address of a data set, "" when it names a commit, `main` or nothing."""
    match = ADDRESS.fullmatch(asked.removeprefix(SCHEME))
    revision = (match[2] if match else "") or ""
    return "" if revision in ("", "main") or _COMMIT.fullmatch(revision) else revision


def read_release(
    folder: Path, held: ReleaseManifest, largest: int, recheck: bool
) -> Iterator[Found]:
    """Yield the environments of a release, each file compared with its sum. Raises ``BadInput``."""
    for place, row in environments(folder, held):
        yield _found(place, row, largest, recheck)


def environments(folder: Path, held: ReleaseManifest) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, row) of every environment of a release. Raises ``BadInput``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = sorted(name for name in held.files if name.startswith("environments/"))
    for name in names:
        manifest.check(folder, held, [name])
        try:
            with pq.ParquetFile(folder / name) as file:
                if file.schema_arrow.names != ENVIRONMENTS.names:
                    raise BadInput(f"{folder / name}: not the columns of a release")
                number = 0
                for batch in file.iter_batches(BATCH, columns=list(_COLUMNS)):
                    for row in batch.to_pylist():
                        number += 1
                        yield f"{name}:{number} ({row['id']})", row
        except (OSError, ValueError, pa.ArrowException) as error:
            raise BadInput(f"{folder / name}: not Parquet: {str(error)[:200]}") from None


def genuine(row: dict[str, Any]) -> bool:
    """Whether the id of a row is that of its program."""
    return bool(row["id"] == environment_id(row["setting"], row["source"], row["hint"]))


def _found(place: str, row: dict[str, Any], largest: int, recheck: bool) -> Found:
    if problem := unusable(place, row["source"], largest):
        return problem
    if not genuine(row) or sha256(row["certificate"]) != row["certificate_sha256"]:
        return Unusable(place, "digest", "its digest is not that of what it holds")
    if not recheck:
        try:
            certificate = Certificate.from_json(row["certificate"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return Unusable(place, "certificate", printable(f"cannot be read: {error}"))
        if {check.name for check in certificate.checks} != set(CHECKS):
            return Unusable(place, "certificate", "not all checks stand in it")
        if certificate.failed or not certificate.accepted:
            return Unusable(place, "certificate", "the release says itself that it was refused")
    return Candidate(
        place,
        row["source"],
        row["hint"],
        skills_of(row["skills"]),
        row["difficulty"],
        certificate="" if recheck else row["certificate"],
        parents=tuple(row["parents"]),
        document=row["document"],
    )


__all__ = ["NAME", "environments", "genuine", "is_release", "open_release", "tag_of"]
