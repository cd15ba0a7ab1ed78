"""Pools on this machine: a folder of Python files, a JSON-lines file, a Parquet file.

What is read is data: nothing of it is imported or run here.
"""

import json
import os
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
from envgen.pools.limits import LIST, NOTES, Limits
from envgen.pools.tables import LONGEST, Types, reading
from envgen.sourcefile import parse, read_source, read_text
from spadekit.errors import BadInput

SIDECAR = "seeds.toml"
"""Beside the files of a folder: a table for each file's stem with hint, skills and difficulty."""
NO_ENVIRONMENT = (
    *("__init__.py", "__main__.py", "envkit.py", "setup.py", "conftest.py"),
    "manifest.json",
)
LINES = (".jsonl", ".ndjson", ".json")
TABLES = (".parquet", ".pq")
LONGEST_LINE = 4_000_000
LONGEST_NUMBER = 30
NO_TEXT = ("timestamp", "date", "time", "duration", "binary", "large_binary", "fixed_size_binary")
READ = {*SOURCE, *HINT, *SKILL, *LEVEL, *NAME}


def read(path: Path, limits: Limits) -> Iterator[Found]:
    """Yield what a path holds, in order. Raises ``BadInput`` when it holds nothing of the kind."""
    if not path.exists():
        hub = f"; a data set of the Hub is hf://{path}" if str(path).count("/") == 1 else ""
        raise BadInput(f"{path}: no such file or folder{hub}")
    if path.is_dir():
        files = sorted(_below(path))
        if not files:
            kinds = ", ".join((".py", *LINES, *TABLES))
            raise BadInput(f"{path}: no file in this folder is a pool ({kinds})")
        yield from _files(path, files, limits)
    elif not path.is_file():
        raise BadInput(f"{path}: not a regular file")
    elif path.suffix.lower() in (".py", *READERS):
        yield from _files(path.parent, [path], limits)
    else:
        kinds = ", ".join((".py", *READERS))
        raise BadInput(f"{path}: not a pool; give a folder or a file that ends in {kinds}")


def note(path: Path) -> str:
    """Say how many files of a folder are looked at; nothing of what is no folder."""
    if not path.is_dir():
        return ""
    count = len(list(_below(path)))
    return (
        f"{path}: looking at {count} file{'s' * (count != 1)}; hidden folders, virtual environments and "
        "node_modules are left out"
    )


def _below(root: Path) -> Iterator[Path]:
    """Yield the files of a folder that may hold environments, places that are not the user's left out.

    Where tables of environments stand, as in a store or a release, other tables are not read.
    """
    found = [
        path
        for path in _walk(root)
        if path.suffix.lower() in (".py", *READERS)
        and not path.is_dir()
        and path.name not in NO_ENVIRONMENT
    ]
    tables = [path for path in found if path.suffix.lower() in READERS]
    if ours := [path for path in tables if is_environments(path.relative_to(root).as_posix())]:
        found = [path for path in found if path.suffix.lower() == ".py"] + ours
    yield from found


def _walk(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = [
            one for one in folders if _is_entered(here / one)
        ]  # the others are not walked
        yield from (here / one for one in names if not one.startswith("."))


def _is_entered(folder: Path) -> bool:
    hidden = folder.name.startswith((".", "__pycache__")) or folder.name == "node_modules"
    return not hidden and not (folder / "pyvenv.cfg").exists()


def is_environments(name: str) -> bool:
    """Whether a path names a table of environments as our shards and releases do."""
    parts = name.lower().split("/")
    return parts[-1].startswith("environments") or "environments" in parts[:-1]


def _files(root: Path, files: list[Path], limits: Limits) -> Iterator[Found]:
    notes = _sidecar(root / SIDECAR)
    for path in files:
        place = path.relative_to(root).as_posix()
        try:
            if not path.is_file():
                raise BadInput("not a regular file")  # reading it could take for ever
            if path.suffix.lower() == ".py":
                yield _file(path, place, notes, limits)
            else:
                yield from READERS[path.suffix.lower()](path, place, limits)
        except BadInput as error:
            yield Unusable(place, "unreadable", str(error).removeprefix(f"{path}: "))


def _file(path: Path, place: str, notes: Mapping[str, Any], limits: Limits) -> Found:
    text = read_source(path, limits.source)
    note = notes.get(path.stem)
    if not isinstance(note, dict):
        file = parse(text)
        made = Candidate(place, file.source, file.hint, skills_of(file.skills), file.difficulty)
        return checked(made, limits.source)
    row = from_row(place, {**note, "source": text}, limits.source)
    # A sidecar's hint is wrapped text.
    return replace(row, hint=" ".join(row.hint.split())) if isinstance(row, Candidate) else row


def _sidecar(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(read_text(path, NOTES))
    except ValueError as error:
        raise BadInput(f"{path}: cannot be read as TOML: {error}") from None
    except RecursionError:
        raise BadInput(f"{path}: nested too deep") from None


def _lines(path: Path, place: str, limits: Limits) -> Iterator[Found]:
    """Read JSON lines; a file that is one JSON list of objects is taken as well."""
    try:
        with path.open("rb") as file:
            if file.read(1) == b"[":
                if (size := file.seek(0, 2)) > LIST:
                    raise BadInput(f"one JSON list of {size} bytes; write it as JSON lines")
                file.seek(0)
                yield from _list(file.read(), place, limits)
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
                    yield _row(here, line, limits)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None


def _row(place: str, line: bytes, limits: Limits) -> Found:
    try:
        row = json.loads(line, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        return Unusable(place, "json", f"not JSON: {str(error)[:100]}")
    if not isinstance(row, dict):
        return Unusable(place, "json", f"not an object but a {type(row).__name__}")
    return from_row(place, row, limits.source)


def _integer(digits: str) -> int | float:
    """Return a number of JSON; one of more digits than Python reads is no difficulty of ours."""
    return int(digits) if len(digits) <= LONGEST_NUMBER else float(digits)


def _list(data: bytes, place: str, limits: Limits) -> Iterator[Found]:
    try:
        rows = json.loads(data, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {str(error)[:100]}") from None
    for number, row in enumerate(rows, 1):
        here = f"{place}:{number}"
        if isinstance(row, dict):
            yield from_row(here, row, limits.source)
        else:
            yield Unusable(here, "json", f"not an object but a {type(row).__name__}")


def _parquet(path: Path, place: str, limits: Limits) -> Iterator[Found]:
    with reading(limits) as reader:
        for number, row in enumerate(reader.rows(path, _wanted), 1):
            here = f"{place}:{number}"
            if row is None:
                yield Unusable(here, "size", f"a row of more than {LONGEST} bytes")
            else:
                yield from_row(here, row, limits.source)


def _wanted(types: Types) -> list[str]:
    """Return the columns of a table that are read. Raises ``BadInput`` without one for the source."""
    named = {name: kind for name, kind in types.items() if name.strip().lower() in READ}
    sources = {name: kind for name, kind in named.items() if name.strip().lower() in SOURCE}
    if not sources:
        known = ", ".join(list(types)[:12])
        raise BadInput(f"no column holds the source (`source` or `code`); it has {known}")
    if not any("string" in kind for kind in sources.values()):
        told = ", ".join(f"{name} {kind}" for name, kind in sources.items())
        raise BadInput(f"the source is no column of text: {told}")
    # Dates name nothing, and Parquet has some that Python has not; nor do bytes.
    return [name for name, kind in named.items() if not kind.startswith(NO_TEXT)]


READERS: Mapping[str, Callable[[Path, str, Limits], Iterator[Found]]] = {
    **dict.fromkeys(LINES, _lines),
    **dict.fromkeys(TABLES, _parquet),
}
