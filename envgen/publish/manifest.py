"""``manifest.json`` of a release: what it holds, with a SHA-256 sum for every file."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.shards import MALFORMED, digest_of
from spadekit.errors import BadInput
from spadekit.files import write_json

NAME = "manifest.json"
KIND = "spadework release"
_PLAIN = re.compile(r"(?!\.)[\w.-]{1,80}(?:/(?!\.)[\w.-]{1,80}){0,2}", re.ASCII)
"""Names of a release's files: below its folder, whoever wrote the manifest."""
SCHEMA = 1


@dataclass(frozen=True)
class File:
    """One file: its SHA-256, size in bytes and, for a table, number of rows."""

    sha256: str
    bytes: int
    rows: int | None


@dataclass(frozen=True)
class ReleaseManifest:
    """What a release holds. ``content`` digests its rows, ``checks`` the code that certified them."""

    tag: str
    content: str
    version: str
    created: str
    shards: Mapping[int, str]  # number -> digest of the shard's manifest
    checks: str
    files: Mapping[str, File]
    digest: str

    def rows(self, table: str) -> int:
        """Return the rows of ``environments``, ``plays`` or ``documents``."""
        return sum(
            file.rows or 0 for name, file in self.files.items() if name.startswith(f"{table}/")
        )


def write(
    folder: Path,
    *,
    tag: str,
    content: str,
    version: str,
    created: str,
    shards: Mapping[int, str],
    checks: str,
    rows: Mapping[str, int],
) -> ReleaseManifest:
    """Write the manifest of everything in ``folder``; ``rows`` counts those of each table's files."""
    files = {
        name: {
            "sha256": file_sha256(folder / name),
            "bytes": (folder / name).stat().st_size,
            "rows": rows.get(name),
        }
        for name in listed(folder)
        if name != NAME
    }
    body = {
        "kind": KIND,
        "schema": SCHEMA,
        "tag": tag,
        "content": content,
        "spadework": version,
        "created": created,
        "shards": {str(number): digest for number, digest in shards.items()},
        "checks": checks,
        "files": files,
    }
    write_json(folder / NAME, {**body, "digest": digest_of(body)})
    return parse((folder / NAME).read_bytes(), NAME)


def parse(data: bytes, place: str) -> ReleaseManifest:
    """Read a manifest, its own digest checked. Raises ``BadInput`` naming ``place``."""
    try:
        body = json.loads(data)
        if body["kind"] != KIND:
            raise BadInput(f"{place}: not the manifest of a release")
        if body["schema"] > SCHEMA:
            raise BadInput(
                f"{place}: written by a newer version (schema {body['schema']}); upgrade spadework"
            )
        digest = body.pop("digest")
        if digest != digest_of(body):
            raise BadInput(f"{place}: its digest does not match its content; fetch it again")
        if strange := [name for name in body["files"] if not _PLAIN.fullmatch(name)]:
            raise BadInput(f"{place}: names the file {strange[0][:80]!r}, which no release holds")
        return ReleaseManifest(
            tag=str(body["tag"]),
            content=str(body["content"]),
            version=str(body["spadework"]),
            created=str(body["created"]),
            shards={int(number): str(one) for number, one in body["shards"].items()},
            checks=str(body["checks"]),
            files={str(name): File(**one) for name, one in body["files"].items()},
            digest=digest,
        )
    except MALFORMED as error:
        raise BadInput(f"{place}: not the manifest of a release ({error})") from None


def ours(data: bytes) -> bool:
    """Whether a file of the manifest's name is the manifest of a release, sound or not."""
    try:
        return bool(json.loads(data)["kind"] == KIND)
    except MALFORMED:
        return False


def is_release(folder: Path) -> bool:
    """Whether a folder holds a release of ours."""
    try:
        return ours((folder / NAME).read_bytes())
    except OSError:
        return False


def read(folder: Path) -> ReleaseManifest:
    """Read the manifest of a release in a folder. Raises ``BadInput``."""
    try:
        return parse((folder / NAME).read_bytes(), str(folder / NAME))
    except OSError as error:
        raise BadInput(f"{folder / NAME}: cannot be read ({error.strerror})") from None


def check(folder: Path, manifest: ReleaseManifest, names: Sequence[str]) -> None:
    """Compare files with their sums. Raises ``BadInput`` for the first that differs."""
    for name in names:
        path = folder / name
        try:
            same = path.is_file() and file_sha256(path) == manifest.files[name].sha256
        except OSError as error:
            raise BadInput(f"{path}: cannot be read ({error.strerror}); fetch it again") from None
        if not same:
            raise BadInput(f"{path}: its SHA-256 differs from the manifest's; fetch it again")


def listed(folder: Path) -> list[str]:
    """Return the files below a folder by their names in a repository, in order."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
