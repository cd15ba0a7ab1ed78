"""The one sink for output: data on stdout, notes on stderr, tables for people, JSON for programs."""

import json
import math
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, NoReturn

from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column, Table
from rich.text import Text

from spadekit.errors import OurFault

FOLDED = 20
"""Columns in which a long text is still readable."""
_UNCUT = 10_000  # columns of what is no terminal: nothing is folded or cut there


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        _hang_up(self.file)


class Report:
    """Prints results. With ``as_json`` stdout carries exactly one JSON value per ``data`` call.

    A reader of stdout that has gone ends the program quietly with exit code 141, as SIGPIPE would;
    a stdout that is closed or full raises ``OurFault``. What was printed has left this process.
    """

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        terminal = bool(sys.stdout and sys.stdout.isatty())
        self.out = _Console(
            file=sys.stdout,
            highlight=False,
            soft_wrap=not terminal,
            width=None if terminal else _UNCUT,
        )
        self.err = _Console(file=sys.stderr, stderr=True, highlight=False)

    def note(self, text: str) -> None:
        """Say something that is not data (stderr)."""
        self.err.print(Text(_printable(text)), soft_wrap=True)

    def error(self, text: str) -> None:
        """Say in one line what went wrong (stderr)."""
        line = _printable(" ".join(text.split()))
        self.err.print(Text.assemble(("error: ", "bold red"), line), soft_wrap=True)

    def failure(self, text: str, code: int) -> NoReturn:
        """End the program with an exit code; with ``as_json`` stdout says why, if it can be written."""
        if self.as_json:
            with suppress(OurFault):
                self.data({"error": " ".join(text.split()), "exit": code})
        raise SystemExit(code)

    def data(self, value: Any) -> None:
        """Print one JSON value on stdout; what is no finite number is null."""
        text = json.dumps(_finite(value), ensure_ascii=False, default=str, allow_nan=False)
        # A terminal would obey control characters of hostile text; a reader of JSON sees no difference.
        shown = (char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
        with _writing():
            sys.stdout.write("".join(shown) + "\n")
            sys.stdout.flush()

    def text(self, text: str) -> None:
        """Print text on stdout exactly as it is, control characters shown, never interpreted."""
        self._print(Text(_printable(text)))

    def say(self, text: str) -> None:
        """Say something to the person at the terminal: on stdout, with ``as_json`` on stderr."""
        self.note(text) if self.as_json else self.text(text)

    def panel(self, title: str, text: str) -> None:
        """Say a text in a frame; where nobody watches a terminal, title and text as they are."""
        if self.as_json or not self.out.is_terminal:
            self.say(f"{title}: {text}" if title else text)
            return
        self._print(Panel(Text(_printable(text)), title=_title(title), title_align="left"))

    def ask(self, prompt: str) -> None:
        """Print what stands before the cursor, without ending the line."""
        shown = Text(_printable(prompt))
        self.err.print(shown, end="") if self.as_json else self._print(shown, end="")

    def table(
        self,
        title: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        spare: Sequence[str] = (),
    ) -> None:
        """Print a table for people, or with ``as_json`` a list of objects keyed by column.

        ``spare`` columns are left out, the first of them first, where a terminal is too narrow, and
        named below the table.
        """
        if self.as_json:
            self.data([dict(zip(columns, row, strict=True)) for row in rows])
            return
        left_out = _left_out(columns, rows, spare, self.out.width)
        if left_out:
            kept = [place for place, name in enumerate(columns) if name not in left_out]
            columns = [columns[place] for place in kept]
            rows = [[row[place] for place in kept] for row in rows]
        table = Table(title=_title(title), title_justify="left", header_style="bold")
        if left_out:
            table.caption_justify = "left"
            table.caption = f"no room for: {', '.join(left_out)}"
        for index, column in enumerate(columns):
            numeric = bool(rows) and all(_is_number(row[index]) for row in rows)
            table.add_column(column, justify="right" if numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(_printable(_cell(value))) for value in row))
        self._print(table)

    def record(self, title: str, values: Mapping[str, Any]) -> None:
        """Print one object: name and value side by side, or with ``as_json`` as it is."""
        if self.as_json:
            self.data(dict(values))
            return
        table = Table(title=_title(title), title_justify="left", show_header=False)
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for key, value in values.items():
            table.add_row(Text(key), Text(_printable(_cell(value))))
        self._print(table)

    def _print(self, shown: RenderableType, end: str = "\n") -> None:
        with _writing():
            self.out.print(shown, end=end)

    def progress(self) -> Progress:
        """A progress display on stderr, silent when stderr is not a terminal.

        On a narrow terminal the bar and the clock make room for what is counted and said.
        """
        whole = Column(no_wrap=True)
        columns = [
            TextColumn("{task.description}", markup=False, table_column=whole),
            MofNCompleteColumn(table_column=whole),
            TextColumn("{task.fields[note]}", markup=False),
        ]
        if self.err.width >= 120:
            columns[1:1] = [BarColumn(bar_width=24)]
            columns[3:3] = [TimeElapsedColumn()]
        return Progress(
            SpinnerColumn(),
            *columns,
            console=self.err,
            transient=True,
            disable=not self.err.is_terminal,
        )


@contextmanager
def _writing() -> Iterator[None]:
    """Say what became of stdout when it cannot be written."""
    if sys.stdout is None:
        raise OurFault("stdout is closed: there is nowhere to print to")
    try:
        yield
    except BrokenPipeError:
        _hang_up(sys.stdout)
    except OSError as error:
        _silence(sys.stdout)
        raise OurFault(f"stdout cannot be written: {error.strerror or error}") from None


def _hang_up(stream: IO[str]) -> NoReturn:
    """End as a program does that SIGPIPE ends, whatever is still to be said."""
    _silence(stream)
    raise SystemExit(128 + signal.SIGPIPE)


def _silence(stream: IO[str]) -> None:
    """Let what is left in the stream's buffer go nowhere, so that the interpreter ends in peace."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return value.replace(".", "", 1).lstrip("-").isdecimal()
    return isinstance(value, int | float)


def _left_out(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], spare: Sequence[str], width: int
) -> Sequence[str]:
    """Return the first of the ``spare`` columns, as many as it takes for the others to fit."""
    spare = [name for name in spare if name in columns]
    needed = {
        name: _least(name, [_printable(_cell(row[place])) for row in rows])
        for place, name in enumerate(columns)
    }
    for count in range(len(spare) + 1):
        kept = [size for name, size in needed.items() if name not in spare[:count]]
        if sum(kept) + 3 * len(kept) + 1 <= width:
            return spare[:count]
    return spare


def _least(name: str, cells: Sequence[str]) -> int:
    """Return the width in which a column is still readable: text of several words may be folded."""
    longest = max((len(text) for text in (name, *cells)), default=0)
    return min(
        longest, max(FOLDED, *(len(word) for text in (name, *cells) for word in text.split()))
    )


def _title(text: str) -> Text | None:
    return Text(_printable(text)) if text else None


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def _printable(text: str) -> str:
    """Show control characters of hostile text instead of sending them to the terminal."""
    return "".join(
        char if char in "\n\t" or char.isprintable() else f"\\x{ord(char):02x}" for char in text
    )
