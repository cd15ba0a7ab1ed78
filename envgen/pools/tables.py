"""Reading the Parquet files of strangers: rows as plain values, out of a process that may die of them."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from envgen.pools.child import Child, child, environment
from envgen.pools.limits import Limits, check_table
from spadekit.errors import BadInput

MEMORY = 4 << 30
"""Bytes of address space that reading may take."""
LONGEST = 32 << 20
"""Bytes of a row, as JSON."""
WAIT_S = 120.0
READER = Path(__file__).with_name("inflate.py")
Types = Mapping[str, str]
Choose = Callable[[Types], Sequence[str]]
"""Is given a table's columns with their types, says which are wanted; raises ``BadInput``."""


class Reader:
    """Reads tables, one after the other."""

    def __init__(self, process: Child, limits: Limits) -> None:
        self._process, self._limits = process, limits

    def rows(self, path: Path, choose: Choose) -> Iterator[dict[str, Any] | None]:
        """Yield the rows of a file, None for one of more than ``LONGEST`` bytes.

        Raises ``BadInput`` for a file that is no Parquet, or larger than the limits; then this reader
        has read its last.
        """
        self._process.tell(json.dumps(str(path)).encode())
        head = self._answer(path)
        check_table(head["rows"], head["bytes"], self._limits, str(path))
        try:
            wanted = list(choose(dict(head["columns"])))
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
        self._process.tell(json.dumps(wanted).encode())
        count = 0
        while (row := self._answer(path)) is not None:
            count += 1
            if count > head["rows"]:
                raise BadInput(f"{path}: more rows than the {head['rows']} that it says it has")
            yield dict(zip(wanted, row, strict=True)) if isinstance(row, list) else None

    def _answer(self, path: Path) -> Any:
        try:
            line = self._process.next(WAIT_S, 2 * LONGEST)
        except TimeoutError:
            raise BadInput(f"{path}: reading it takes more than {WAIT_S:g} s") from None
        except ValueError as error:
            raise BadInput(f"{path}: cannot be read as Parquet: {error}") from None
        if not line:
            gib = MEMORY >> 30
            raise BadInput(f"{path}: reading it as Parquet fails; it may need more than {gib} GiB")
        told = json.loads(line)
        if isinstance(told, dict) and "error" in told:
            raise BadInput(f"{path}: cannot be read as Parquet: {told['error']}")
        return told


@contextmanager
def reading(limits: Limits) -> Iterator[Reader]:
    """Give a reader of tables; its process ends with the block."""
    # -P: the folder of the script holds names of the standard library and of packages.
    command = [sys.executable, "-P", str(READER), str(MEMORY), str(LONGEST)]
    variables = environment(ARROW_DEFAULT_MEMORY_POOL="system")
    with child(command, variables, told=True) as process:
        yield Reader(process, limits)
