"""A release of ours as a pool: whoever made it, its rows are checked and its certificates made again.

The sums say that files are those that were published, not that whoever published them told the truth;
so what a release says of a program is believed only where that is asked for. A certificate says nothing
about safety in any case, and everything runs in a jail.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from envgen.certificate import CHECKS, code_digest
from envgen.hub import SCHEME, is_commit, parse
from envgen.pools import hub, vouched
from envgen.pools.candidate import (
    Candidate,
    Claim,
    Found,
    Origin,
    Unusable,
    checked,
    kind_of,
    skills_of,
)
from envgen.pools.candidate import unusable as unusable_source
from envgen.pools.hub import DataSet
from envgen.pools.limits import MANIFEST, ROWS, Limits, check_pool
from envgen.pools.pool import Pool
from envgen.pools.tables import Types, reading
from envgen.pools.vouched import is_count, is_digest, is_identity
from envgen.publish import manifest
from envgen.publish.manifest import ReleaseManifest
from envgen.publish.rows import ENVIRONMENTS, sha256
from memory import environment_id
from memory.schema import SETTINGS
from sandbox import printable
from spadekit.errors import BadInput

TABLES = "environments"
"""The folder of a release's tables of environments."""
LONGEST_NAME = 300
LONGEST_PLACE = 5_000
MOST_NAMES = 64


@dataclass(frozen=True)
class Release:
    """A release in a folder. ``uri`` is where it is from, pinned; ``asked`` how it was asked for."""

    folder: Path
    held: ReleaseManifest
    uri: str
    asked: str = ""

    @property
    def tables(self) -> list[str]:
        """The names of its tables of environments, in order."""
        return _tables(self.held)


def in_folder(folder: Path, uri: str, asked: str = "") -> Release | None:
    """Return the release that a folder holds, None for a folder of anything else.

    Raises ``BadInput`` for a manifest that is damaged or newer than this, and for a tag that has moved.
    """
    tables = next((folder / TABLES).glob("*"), None) is not None
    return _in_folder(folder, uri, asked, tables)


def _in_folder(folder: Path, uri: str, asked: str, tables: bool) -> Release | None:
    """``tables``: environments lie where those of a release do, so it has to be one or is damaged."""
    path = folder / manifest.NAME
    try:
        if not path.is_file() or _too_large(str(path), path.stat().st_size, tables):
            return None
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from None
    if tables:
        _check_json(path, data)
    if not manifest.ours(data):
        return None
    held = manifest.parse(data, str(path))
    for name, file in held.files.items():
        known = file.rows is None or is_count(file.rows, ROWS)
        if not (is_digest(file.sha256) and is_count(file.bytes) and known):
            raise BadInput(f"{path}: sum, size or rows of {name} are none")
    if not held.tag.isprintable() or not 0 < len(held.tag) <= LONGEST_NAME:
        raise BadInput(f"{path}: its tag is no name")
    tag = tag_of(asked)
    if tag and tag != held.tag:
        raise BadInput(
            f"{asked}: `{tag}` holds the release `{held.tag}`: if it is a tag, it was moved; import {uri} if "
            "you trust who did that"
        )
    return Release(folder, held, uri, tagged(asked))


def on_hub(data: DataSet, limits: Limits, asked: str) -> Release | None:
    """Download the release that a data set holds, its environments only; None without a release.

    Raises ``BadInput`` as ``in_folder`` does, and before the download for one that is too large.
    """
    tables = any(name.startswith(f"{TABLES}/") for name in data.files)
    if manifest.NAME not in data.files or _too_large(
        f"{data.uri}: {manifest.NAME}", data.files[manifest.NAME], tables
    ):
        return None
    found = _in_folder(hub.fetch(data, [manifest.NAME], limits), data.uri, asked, tables)
    if found is None:
        return None
    if lacking := [name for name in found.tables if name not in data.files]:
        raise BadInput(f"{data.uri}: its manifest lists {lacking[0]}, which is not there")
    hub.fetch(data, [manifest.NAME, *found.tables], limits)
    return found


def tag_of(asked: str) -> str:
    """Return the tag in the address of a data set, "" when it names a commit, `main` or nothing."""
    revision = parse(asked)[1] if asked else ""
    return "" if revision in ("", "main") or is_commit(revision) else revision


def tagged(asked: str) -> str:
    """Return the address of a data set at a tag, in the one spelling that is kept; "" without a tag."""
    tag = tag_of(asked)
    return f"{SCHEME}{parse(asked)[0]}@{tag}" if tag else ""


def as_pool(release: Release, limits: Limits, *, believed: bool) -> Pool:
    """Return a release as a pool. ``believed``: its certificates are taken at their word."""
    note = ""
    if believed:
        note = (
            f"{release.uri}: the certificates of release {release.held.tag} are believed, not made again: "
            "they are the word of whoever published it"
        )
        if release.held.checks != code_digest():
            note += ", by other checks than these"
    return Pool(
        release.uri,
        lambda: _read(release, limits, believed),
        asked=release.asked,
        note=note,
        believed=believed,
        release={
            "tag": release.held.tag,
            "content": printable(release.held.content)[:LONGEST_NAME],
        },
    )


def environments(release: Release, limits: Limits) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield (place, row, what is wrong with it) of every environment of a release.

    "" where nothing is: then columns have their types and ranges, and the id is that of the program.
    Raises ``BadInput`` for a file that is not the manifest's, or no table of a release.
    """
    held = release.held
    check_pool({name: held.files[name].bytes for name in release.tables}, limits, release.uri)
    with reading(limits) as reader:
        for name in release.tables:
            _check_file(release, name)
            number = 0
            for row in reader.rows(release.folder / name, _wanted):
                number += 1
                place = f"{name}:{number}"
                if row is None:
                    yield place, {}, "the row is too large"
                    continue
                if is_identity(row["id"]):
                    place = f"{place} ({row['id']})"
                yield place, row, _wrong(row, limits)
            if number != held.files[name].rows:
                told = held.files[name].rows
                raise BadInput(f"{release.folder / name}: {number} rows; its manifest says {told}")


def _tables(held: ReleaseManifest) -> list[str]:
    return sorted(name for name in held.files if name.startswith(f"{TABLES}/"))


def _too_large(place: str, size: int, tables: bool) -> bool:
    """Whether a file is too large to be a manifest. Raises ``BadInput`` where one has to be."""
    if size > MANIFEST and tables:
        raise BadInput(
            f"{place}: {size} bytes; the manifest of a release has at most {MANIFEST}. If this is none, "
            f"import a table of {TABLES}/ by itself"
        )
    return size > MANIFEST


def _check_json(path: Path, data: bytes) -> None:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        raise BadInput(
            f"{path}: not JSON, so no manifest of a release: fetch it again. If this is none, import a "
            f"table of {TABLES}/ by itself"
        ) from None


def _check_file(release: Release, name: str) -> None:
    path, told = release.folder / name, release.held.files[name].bytes
    try:
        info = path.stat()
    except OSError:
        raise BadInput(f"{path}: in the manifest and not there; fetch it again") from None
    if not S_ISREG(info.st_mode):
        raise BadInput(f"{path}: not a regular file")
    if info.st_size != told:
        raise BadInput(
            f"{path}: its SHA-256 differs from the manifest's: {info.st_size} bytes, not {told}; fetch it "
            "again"
        )
    manifest.check(release.folder, release.held, [name])


def _wanted(types: Types) -> list[str]:
    """Return the columns that are read. Raises ``BadInput`` for a table of other columns."""
    for name in COLUMNS:
        wanted = str(ENVIRONMENTS.field(name).type)
        # Arrow calls what stands in a list an item, Parquet an element.
        told = types.get(name, "not there").replace("<element:", "<item:")
        if told != wanted:
            raise BadInput(f"column `{name}` is {told}, not {wanted}: no table of a release")
    return list(COLUMNS)


def _wrong(row: Mapping[str, Any], limits: Limits) -> str:
    for name, check in COLUMNS.items():
        if problem := check(row[name]):
            return f"column `{name}` {problem}"
    if len(row["hint"]) > limits.source:
        return f"column `hint` has {len(row['hint'])} characters; at most {limits.source} are taken"
    if row["id"] != environment_id(row["setting"], row["source"], row["hint"]):
        return "its id is not that of its program"
    return ""


def _read(release: Release, limits: Limits, believed: bool) -> Iterator[Found]:
    for place, row, wrong in environments(release, limits):
        yield Unusable(place, "row", wrong) if wrong else _found(place, row, limits, believed)


def _found(place: str, row: Mapping[str, Any], limits: Limits, believed: bool) -> Found:
    if problem := unusable_source(place, row["source"], limits.source):
        return problem
    if sha256(row["certificate"]) != row["certificate_sha256"]:
        return Unusable(place, "digest", "the SHA-256 of its certificate differs")
    try:
        claim = _claim(row, believed)
    except ValueError as error:
        return Unusable(place, "certificate", f"its certificate: {printable(str(error))[:200]}")
    made = Candidate(
        place,
        row["source"],
        row["hint"],
        skills_of(row["skills"]),
        row["difficulty"],
        tuple(row["parents"]),
        row["document"],
        claim,
        Origin(printable(row["origin"]), printable(row["origin_place"])) if row["origin"] else None,
    )
    return checked(made, limits.source)


def _claim(row: Mapping[str, Any], believed: bool) -> Claim:
    """Return what a release says of a program. Raises ``ValueError`` when it cannot be so."""
    certificate = vouched.read(row["certificate"])
    about = certificate.environment
    if about and about != row["id"]:
        raise ValueError(f"it is of another program, {about}")
    if certificate.setting != row["setting"]:
        raise ValueError(f"it is of another setting, {certificate.setting}")
    if certificate.failed or not certificate.accepted:
        raise ValueError("it says itself that the program was refused")
    if believed and not about:
        raise ValueError("it does not say which program it is of; import without --trust")
    if believed and {check.name for check in certificate.checks} != set(CHECKS):
        raise ValueError("not all checks stand in it; import without --trust")
    return Claim(row["id"], certificate, row["certificate"])


def _text(longest: int) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str):
            return f"holds {kind_of(value)}, not text"
        return f"has {len(value)} characters; at most {longest}" if len(value) > longest else ""

    return check


def _name(value: Any) -> str:
    return _text(LONGEST_NAME)(value) or ("" if value.isprintable() else "cannot be printed")


def _names(value: Any) -> str:
    if not isinstance(value, list):
        return f"holds {kind_of(value)}, not a list"
    if len(value) > MOST_NAMES:
        return f"has {len(value)} entries; at most {MOST_NAMES}"
    return next(filter(None, map(_name, value)), "")


def _that(good: Callable[[Any], bool], what: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if good(value):
            return ""
        shown = (
            printable(str(value))[:40] if isinstance(value, str | int | float) else kind_of(value)
        )
        return f"holds {shown}, not {what}"

    return check


COLUMNS: Mapping[str, Callable[[Any], str]] = {
    "id": _that(is_identity, "20 hexadecimal digits"),
    "setting": _that(lambda value: value in SETTINGS, " or ".join(SETTINGS)),
    "skills": _names,
    "difficulty": _that(lambda value: is_count(value, 5), "a number from 0 to 5"),
    "source": _text(vouched.LONGEST * 16),
    "hint": _text(vouched.LONGEST * 16),
    "certificate": _text(vouched.LONGEST),
    "certificate_sha256": _that(is_digest, "a SHA-256"),
    "parents": _names,
    "document": _name,
    "origin": _text(LONGEST_NAME),
    "origin_place": _text(LONGEST_PLACE),
}
"""What is read of a row, and what says that a value will not do. Figures stay where they are."""
