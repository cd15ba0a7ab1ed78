"""Reads Parquet for ``tables`` in a process of its own: ``python -P inflate.py MEMORY LONGEST``.

A file may call itself small and inflate to terabytes, or crash who reads it; here that ends this process
and nothing else. It stands alone, so that starting it costs no more than importing pyarrow.

It is told a path, a line of JSON, and answers with columns, rows and inflated bytes; told the names of
columns then, it answers with a list of values for each row, and ``null`` after the last. ``{"error"}`` is
the last line of a file that cannot be read, ``{"long"}`` stands for a row of more than ``LONGEST`` bytes.
"""

import json
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

ROWS = 256
ROOM = 64 << 20
"""Bytes that the rows of one batch may come to."""


def main(memory: int, longest: int) -> None:
    """Answer until there is nothing more to read. ``memory`` is the address space in bytes."""
    with suppress(ValueError, OSError):  # a system without this limit
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            _read(json.loads(line), longest, lines)
        except Exception as error:  # pyarrow's readers raise whatever they like
            text = " ".join(str(error).split())[:200] or type(error).__name__
            print(json.dumps({"error": text}), file=lines, flush=True)


def _read(path: str, longest: int, lines: IO[str]) -> None:
    import pyarrow.parquet as pq

    # Opened here: a name that is not UTF-8 is none to pyarrow.
    with Path(path).open("rb") as opened, pq.ParquetFile(opened) as file:
        schema = file.schema_arrow
        groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
        sizes = [group.total_byte_size for group in groups]
        head = {
            "columns": [[field.name, str(field.type)] for field in schema],
            "rows": file.metadata.num_rows,
            "bytes": sum(sizes) if min(sizes, default=0) >= 0 else -1,
        }
        print(json.dumps(head), file=lines, flush=True)
        names = json.loads(sys.stdin.readline())
        for row in _rows(file, names, max(sizes, default=0)):
            text = json.dumps(row, default=str)  # decimals and the like
            if len(text) > longest:
                text = json.dumps({"long": len(text)})
            print(text, file=lines)
        print("null", file=lines, flush=True)


def _rows(file: Any, names: list[str], largest: int) -> Iterator[list[Any]]:
    # No value is larger than its row group, but a dictionary lets every row repeat the largest.
    size = max(1, min(ROWS, ROOM // max(largest, 1)))
    for batch in file.iter_batches(size, columns=names, use_threads=False):
        columns = [batch.column(name).to_pylist() for name in names]
        for values in zip(*columns, strict=True):
            yield list(values)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
