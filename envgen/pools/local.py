"""Pools on this machine: a folder of Python files, a JSON-lines file, a Parquet file.

What is read is data: nothing of it is imported or run here.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from envgen.pools.candidate import (
    HINT,
    LEVEL,
    NAME,
    SKILL,
    SOURCE,
    Candidate,
    Found,
    Unusable,
    checked,
    from_row,
    skills_of,
)
from envgen.sourcefile import parse, read_source
from spadekit.errors import BadInput

SIDECAR = "seeds.toml"
"""Beside the files of a folder: a table for each file's stem with hint, skills and difficulty."""
NO_ENVIRONMENT = ("__init__.py", "__main__.py", "envkit.py", "setup.py", "conftest.py")
LINES = (".jsonl", ".ndjson", ".json")
TABLES = (".parquet", ".pq")
LONGEST_LINE = 4_000_000
LONGEST_NUMBER = 30
BATCH = 256
READ = {*SOURCE, *HINT, *SKILL, *LEVEL, *NAME}


def read(path: Path, largest: int) -> Iterator[Found]:
    """Yield what a path holds, in order. Raises ``BadInput`` when it holds nothing of the kind."""
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder")
    if path.is_dir():
        files = sorted(_below(path))
        if not files:
            kinds = ", ".join((".py", *LINES, *TABLES))
            raise BadInput(f"{path}: no file in this folder is a pool ({kinds})")
        yield from _files(path, files, largest)
    elif not path.is_file():
        raise BadInput(f"{path}: not a regular file")
    elif path.suffix.lower() in (".py", *READERS):
        yield from _files(path.parent, [path], largest)
    else:
        kinds = ", ".join((".py", *READERS))
        raise BadInput(f"{path}: not a pool; give a folder or a file that ends in {kinds}")


def _below(root: Path) -> Iterator[Path]:
    """Yield the files of a folder that may hold environments, hidden places left out.

    Where tables of environments stand, as in a store or a release, other tables are not read.
    """
    found = [
        path
        for path in root.rglob("*")
        if path.suffix.lower() in (".py", *READERS)
        and not path.is_dir()
        and path.name not in NO_ENVIRONMENT
        and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts)
    ]
    tables = [path for path in found if path.suffix.lower() in READERS]
    if ours := [path for path in tables if is_environments(path.relative_to(root).as_posix())]:
        found = [path for path in found if path.suffix.lower() == ".py"] + ours
    yield from found


def is_environments(name: str) -> bool:
    """Whether a path names a table of environments as our shards and releases do."""
    parts = name.lower().split("/")
    return parts[-1].startswith("environments") or "environments" in parts[:-1]


def _files(root: Path, files: list[Path], largest: int) -> Iterator[Found]:
    notes = _sidecar(root / SIDECAR, largest)
    for path in files:
        place = path.relative_to(root).as_posix()
        try:
            if not path.is_file():
                raise BadInput("not a regular file")  # reading it could take for ever
            if path.suffix.lower() == ".py":
                yield _file(path, place, notes, largest)
            else:
                yield from READERS[path.suffix.lower()](path, place, largest)
        except BadInput as error:
            yield Unusable(place, "unreadable", str(error).removeprefix(f"{path}: "))


def _file(path: Path, place: str, notes: Mapping[str, Any], largest: int) -> Found:
    text = read_source(path, largest)
    note = notes.get(path.stem)
    if not isinstance(note, dict):
        file = parse(text)
        made = Candidate(place, file.source, file.hint, skills_of(file.skills), file.difficulty)
        return checked(made)
    row = from_row(place, {**note, "source": text}, largest)
    # A sidecar's hint is wrapped text.
    return replace(row, hint=" ".join(row.hint.split())) if isinstance(row, Candidate) else row


def _sidecar(path: Path, largest: int) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read as TOML: {error}") from None
    except RecursionError:
        raise BadInput(f"{path}: nested too deep") from None


def _lines(path: Path, place: str, largest: int) -> Iterator[Found]:
    """Read JSON lines; a file that is one JSON list of objects is taken as well."""
    try:
        with path.open("rb") as file:
            if file.read(1) == b"[":
                file.seek(0)
                yield from _list(file.read(), place, largest)
                return
            file.seek(0)
            number = 0
            while line := file.readline(LONGEST_LINE):
                number += 1
                here = f"{place}:{number}"
                if not line.endswith(b"\n") and len(line) == LONGEST_LINE:
                    while (more := file.readline(LONGEST_LINE)) and not more.endswith(b"\n"):
                        pass
                    yield Unusable(here, "size", f"a line of more than {LONGEST_LINE} bytes")
                elif line.strip():
                    yield _row(here, line, largest)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None


def _row(place: str, line: bytes, largest: int) -> Found:
    try:
        row = json.loads(line, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        return Unusable(place, "json", f"not JSON: {str(error)[:100]}")
    if not isinstance(row, dict):
        return Unusable(place, "json", f"not an object but a {type(row).__name__}")
    return from_row(place, row, largest)


def _integer(digits: str) -> int | float:
    """Return a number of JSON; one of more digits than Python reads is no difficulty of ours."""
    return int(digits) if len(digits) <= LONGEST_NUMBER else float(digits)


def _list(data: bytes, place: str, largest: int) -> Iterator[Found]:
    try:
        rows = json.loads(data, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {str(error)[:100]}") from None
    for number, row in enumerate(rows, 1):
        here = f"{place}:{number}"
        if isinstance(row, dict):
            yield from_row(here, row, largest)
        else:
            yield Unusable(here, "json", f"not an object but a {type(row).__name__}")


def _parquet(path: Path, place: str, largest: int) -> Iterator[Found]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if not any(name.strip().lower() in SOURCE for name in names):
                known = ", ".join(names[:12])
                raise BadInput(f"no column holds the source (`source` or `code`); it has {known}")
            # Dates name nothing, and Parquet has some that Python has not.
            read = [
                field.name
                for field in file.schema_arrow
                if field.name.strip().lower() in READ and not pa.types.is_temporal(field.type)
            ]
            for batch in file.iter_batches(BATCH, columns=read):
                for row in batch.to_pylist():
                    number += 1
                    yield from_row(f"{place}:{number}", row, largest)
    except (OSError, ValueError, OverflowError, pa.ArrowException) as error:
        raise BadInput(f"{path}: cannot be read as Parquet: {str(error)[:200]}") from None


READERS: Mapping[str, Callable[[Path, str, int], Iterator[Found]]] = {
    **dict.fromkeys(LINES, _lines),
    **dict.fromkeys(TABLES, _parquet),
}
