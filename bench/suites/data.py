"""Where a benchmark's questions come from: the user's own files, or the Hub at one commit.

Of the Hub only files are taken: no code of a data set is ever run. The commit that a home first saw is
kept in it, so that a push to the data set does not change what is measured; what is in the Hub's cache
already is not downloaded again.
"""

import csv
import fnmatch
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.suites.jail import Unavailable
from envgen.hub import SCHEME, explained, look_up
from spadekit.errors import BadInput
from spadekit.files import write_json

Row = dict[str, Any]


@dataclass(frozen=True)
class Files:
    """Files of a data set, sorted by name, and which data they are."""

    paths: tuple[Path, ...]
    revision: str


def find(where: str, patterns: Sequence[str], kept: Path) -> Files:
    """Return the files of ``where`` whose names match one of ``patterns``.

    ``where`` is a folder, a file, or ``hf://USER/NAME[@REVISION]``; ``kept`` is the folder that
    remembers commits. Raises ``Unavailable`` where there is nothing to read.
    """
    if where.startswith(SCHEME):
        return _hub(where, patterns, kept)
    place = Path(where).expanduser()
    if not place.exists():
        raise Unavailable(f"{where} is not there; download the data and name its folder or file")
    paths = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    if place.is_dir():
        paths = [path for path in paths if _matches(path.name, patterns)]
    if not paths:
        raise Unavailable(f"{where} holds no file named like {', '.join(patterns)}")
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    return Files(tuple(paths), f"sha256:{digest.hexdigest()[:16]}")


def rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a Parquet, CSV, JSON-lines or JSON file. Raises ``BadInput``."""
    try:
        if path.suffix == ".parquet":
            yield from _parquet(path)
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as handle:
                yield from csv.DictReader(handle)
        elif path.suffix == ".json":
            found = json.loads(path.read_text(encoding="utf-8"))
            yield from (_object(row, path, n) for n, row in enumerate(found, 1))
        else:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if line.strip():
                    yield _object(json.loads(line), path, number)
    except (OSError, ValueError, TypeError, csv.Error, RecursionError) as error:
        raise BadInput(f"{path}: cannot be read ({error})"[:300]) from None


def text(row: Row, where: str, *names: str) -> str:
    """Return the first of some columns that a row has, as text. Raises ``BadInput``."""
    for name in names:
        value = row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(int(value)) if float(value).is_integer() else str(value)
        if isinstance(value, str) and value.strip():
            return value
    raise BadInput(f"{where}: no column {' or '.join(names)} with text in it")


def _hub(uri: str, patterns: Sequence[str], kept: Path) -> Files:
    from huggingface_hub import snapshot_download

    place = kept / f"{hashlib.sha256(uri.encode()).hexdigest()[:16]}.json"
    try:
        name, commit = _pinned(uri, place)
        with explained(uri):
            folder = snapshot_download(
                name, repo_type="dataset", revision=commit, allow_patterns=list(patterns)
            )
    except BadInput as error:
        raise Unavailable(f"{error}; or name your own download") from None
    paths = sorted(p for p in Path(folder).rglob("*") if p.is_file())
    found = tuple(path for path in paths if _matches(path.name, patterns))
    if not found:
        raise Unavailable(f"{uri} holds no file named like {', '.join(patterns)}")
    return Files(found, f"{SCHEME}{name}@{commit}")


def _pinned(uri: str, place: Path) -> tuple[str, str]:
    """Return a data set's name and commit: those it had when this home first used it."""
    if place.exists():
        try:
            known = json.loads(place.read_text(encoding="utf-8"))
            return str(known["name"]), str(known["commit"])
        except (OSError, ValueError, KeyError, TypeError):
            raise BadInput(f"{place}: damaged; remove it to use the newest commit") from None
    name, commit, _ = look_up(uri)
    write_json(place, {"uri": uri, "name": name, "commit": commit})
    return name, commit


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        yield from pq.read_table(path).to_pylist()
    except pa.ArrowException as error:
        raise ValueError(str(error)) from None


def _object(value: Any, path: Path, number: int) -> Row:
    if not isinstance(value, dict):
        raise BadInput(f"{path}: row {number} is no JSON object")
    return value
