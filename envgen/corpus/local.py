"""Documents in local files, of any size: an index says where each stands, none is kept in memory.

Opening reads every file once, front to back, and checks it, so that a bad line is found before a
run starts and not on its third day. The index of a large corpus is kept, and made again when a file
changes.
"""

import hashlib
import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from envgen.corpus.document import LONGEST, TEXT_KEYS, Document, from_row, from_text
from envgen.corpus.order import shuffled
from spadekit.errors import BadInput
from spadekit.files import write_atomic
from spadekit.seeds import derive

TEXTS, LINES, TABLES = (".md", ".txt"), (".jsonl", ".ndjson"), (".parquet",)
LONGEST_LINE = 2**26
LARGE = 2**26
"""Bytes of a corpus from which on its index is worth keeping: smaller ones are read in a second."""
BATCH = 256
ROW_BYTES = 24  # of the index: three numbers
OPTIONAL = ("id", "title", "licence")

Index = npt.NDArray[np.int64]
"""(documents, 3): file, byte offset or row, number of the line or row as people count."""


class Files:
    """A non-empty list of documents in files. ``at`` draws them in a seeded order.

    Drawing is without replacement: place ``p`` of the ``e``-th pass over ``n`` documents has index
    ``e * n + p``, and each pass has an order of its own. An index says it all, so a resumed run draws
    what the interrupted one would have drawn.
    """

    def __init__(
        self, root: Path, files: list[Path], index: Index, licence: str, seed: int
    ) -> None:
        self.root, self.files, self.index = root, files, index
        self.licence, self.seed = licence, seed

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        seed: int = 0,
        licence: str = "",
        kept: Path | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> "Files":
        """Open a file or a folder; ``kept`` is the folder for the index of a large corpus.

        Raises ``BadInput`` naming the file and line when something cannot be read, and when there
        is no document with text.
        """
        try:
            files = _files(path)
            index = _index(path, files, kept, note)
        except OSError as error:
            reason = error.strerror or str(error)
            raise BadInput(f"{path}: the corpus cannot be read: {reason}") from None
        if not len(index):
            raise BadInput(
                f"{path}: the corpus is empty; it needs .md or .txt files with text, or .jsonl or "
                ".parquet files with rows of `text`"
            )
        return cls(path if path.is_dir() else path.parent, files, index, licence, seed)

    def __len__(self) -> int:
        return len(self.index)

    def at(self, index: int) -> Document:
        """Return the document drawn at ``index`` (from 0, any size)."""
        epoch, place = divmod(index, len(self))
        return self.read(shuffled(place, len(self), derive(self.seed, "corpus", epoch)))

    def read(self, position: int) -> Document:
        """Return a document by its position in the files. Raises ``BadInput`` when it is gone."""
        number, place, line = (int(value) for value in self.index[position])
        file = self.files[number]
        try:
            document = _read(self.root, file, place, line)
        except (OSError, ValueError, IndexError, pa.ArrowException) as error:
            raise BadInput(f"{file}: changed since the corpus was opened ({error})") from None
        return replace(document, licence=document.licence or self.licence)


def _files(path: Path) -> list[Path]:
    """Return the files of a corpus in order; tables win over texts that lie beside them."""
    path.stat()  # what is not there says so itself
    if not path.is_dir():
        if path.suffix not in TEXTS + LINES + TABLES:
            raise BadInput(f"{path}: a corpus is a folder, or a .jsonl, .parquet, .md or .txt file")
        if not path.is_file():
            raise BadInput(f"{path}: not a regular file")
        return [path]
    found = [
        file
        for file in sorted(path.rglob("*"))
        if file.suffix in TEXTS + LINES + TABLES
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]
    return [file for file in found if file.suffix not in TEXTS] or found


def _index(path: Path, files: list[Path], kept: Path | None, note: Callable[[str], None]) -> Index:
    stats = [file.stat() for file in files]
    size = sum(one.st_size for one in stats)
    if kept is None or size < LARGE:
        return _scan(files)
    facts = [(str(f), one.st_size, one.st_mtime_ns) for f, one in zip(files, stats, strict=True)]
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    place = kept / f"{name}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}.index"
    if not place.exists() or place.stat().st_size % ROW_BYTES:
        note(f"{path}: {size / 2**20:,.0f} MiB are read once, to check and to count the documents")
        index = _scan(files)
        if not len(index):
            return index
        try:
            for stale in kept.glob(f"{name}-*.index"):
                stale.unlink(missing_ok=True)
            write_atomic(place, index.tobytes())
        except OSError as error:
            note(
                f"{kept}: the index is not kept ({error.strerror or error}); next time it is made again"
            )
            return index
    return np.memmap(place, dtype=np.int64, mode="r").reshape(-1, 3)


def _scan(files: list[Path]) -> Index:
    found = array("q")
    for number, file in enumerate(files):
        for place, line in _places(file):
            found.extend((number, place, line))
    return np.frombuffer(found, dtype=np.int64).reshape(-1, 3)


def _places(file: Path) -> Iterator[tuple[int, int]]:
    """Check a file whole and yield (offset or row, number) of each document that is not blank."""
    if file.suffix in LINES:
        yield from _line_places(file)
    elif file.suffix in TABLES:
        yield from _row_places(file)
    elif _text(file).strip():
        yield 0, 1


def _line_places(file: Path) -> Iterator[tuple[int, int]]:
    with file.open("rb") as opened:
        number = offset = 0
        while line := opened.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise BadInput(f"{file}: line {number} is longer than {LONGEST_LINE >> 20} MiB")
            if line.strip():
                try:
                    blank = not from_row(_object(line), "").text
                except ValueError as error:
                    raise BadInput(f"{file}: line {number}: {error}") from None
                if not blank:
                    yield offset, number
            offset += len(line)


def _object(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    return row


def _row_places(file: Path) -> Iterator[tuple[int, int]]:
    try:
        with pq.ParquetFile(file) as table:
            column = _text_column(table.schema_arrow)
            if column is None:
                raise BadInput(f"{file}: no column `text` or `orig_doc` that holds text")
            row = 0
            for batch in table.iter_batches(BATCH, columns=[column]):
                filled = pc.fill_null(pc.utf8_trim_whitespace(batch.column(0)), "")
                for place in np.flatnonzero(
                    pc.not_equal(filled, "").to_numpy(zero_copy_only=False)
                ):
                    yield row + int(place), row + int(place) + 1
                row += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{file}: not a Parquet file that can be read: {_first(error)}") from None


def _text_column(schema: pa.Schema) -> str | None:
    kinds = {field.name: field.type for field in schema}
    found = next((key for key in TEXT_KEYS if key in kinds), None)
    text = found and (pa.types.is_string(kinds[found]) or pa.types.is_large_string(kinds[found]))
    return found if text else None


def _text(file: Path) -> str:
    with file.open(encoding="utf-8") as opened:
        try:
            return opened.read(LONGEST)
        except UnicodeDecodeError:
            raise BadInput(f"{file}: not UTF-8 text; convert it or move it away") from None


def _read(root: Path, file: Path, place: int, number: int) -> Document:
    if file.suffix in TEXTS:
        return from_text(file.relative_to(root).with_suffix("").as_posix(), _text(file))
    name = f"{file.relative_to(root).with_suffix('').as_posix()}-{number}"
    if file.suffix in LINES:
        with file.open("rb") as opened:
            opened.seek(place)
            return from_row(_object(opened.readline(LONGEST_LINE)), name)
    return from_row(_row(file, place), name)


def _row(file: Path, place: int) -> dict[str, Any]:
    """Read one row of a Parquet file, batch by batch of its row group."""
    with pq.ParquetFile(file) as table:
        names = set(table.schema_arrow.names)
        columns = [_text_column(table.schema_arrow), *(key for key in OPTIONAL if key in names)]
        group = 0
        while place >= (rows := table.metadata.row_group(group).num_rows):
            place -= rows
            group += 1
        for batch in table.iter_batches(BATCH, row_groups=[group], columns=columns):
            if place < batch.num_rows:
                found: dict[str, Any] = batch.slice(place, 1).to_pylist()[0]
                return found
            place -= batch.num_rows
    raise IndexError("fewer rows")


def _first(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
