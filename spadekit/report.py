"""The one sink for output: data on stdout, notes on stderr, tables for people, JSON for programs."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

_UNCUT = 10_000  # columns of what is no terminal: nothing is folded or cut there


class Report:
    """Prints results. With ``as_json`` stdout carries exactly one JSON value per ``data`` call."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        terminal = bool(sys.stdout and sys.stdout.isatty())
        self.out = Console(
            file=sys.stdout,
            highlight=False,
            soft_wrap=not terminal,
            width=None if terminal else _UNCUT,
        )
        self.err = Console(file=sys.stderr, highlight=False)

    def note(self, text: str) -> None:
        """Say something that is not data (stderr)."""
        self.err.print(Text(_printable(text)), soft_wrap=True)

    def error(self, text: str) -> None:
        """Say in one line what went wrong (stderr)."""
        line = _printable(" ".join(text.split()))
        self.err.print(Text.assemble(("error: ", "bold red"), line), soft_wrap=True)

    def data(self, value: Any) -> None:
        """Print one JSON value on stdout; what is no finite number is null."""
        text = json.dumps(_finite(value), ensure_ascii=False, default=str, allow_nan=False)
        # A terminal would obey control characters of hostile text; a reader of JSON sees no difference.
        shown = (char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
        sys.stdout.write("".join(shown) + "\n")

    def text(self, text: str) -> None:
        """Print text on stdout exactly as it is, control characters shown, never interpreted."""
        self.out.print(Text(_printable(text)))

    def say(self, text: str) -> None:
        """Say something to the person at the terminal: on stdout, with ``as_json`` on stderr."""
        self.note(text) if self.as_json else self.text(text)

    def panel(self, title: str, text: str) -> None:
        """Say a text in a frame; where nobody watches a terminal, title and text as they are."""
        if self.as_json or not self.out.is_terminal:
            self.say(f"{title}: {text}" if title else text)
            return
        self.out.print(Panel(Text(_printable(text)), title=_title(title), title_align="left"))

    def ask(self, prompt: str) -> None:
        """Print what stands before the cursor, without ending the line."""
        (self.err if self.as_json else self.out).print(Text(_printable(prompt)), end="")

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print a table for people, or with ``as_json`` a list of objects keyed by column."""
        if self.as_json:
            self.data([dict(zip(columns, row, strict=True)) for row in rows])
            return
        table = Table(title=_title(title), title_justify="left", header_style="bold")
        for index, column in enumerate(columns):
            numeric = bool(rows) and all(_is_number(row[index]) for row in rows)
            table.add_column(column, justify="right" if numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(_printable(_cell(value))) for value in row))
        self.out.print(table)

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
        self.out.print(table)

    def progress(self) -> Progress:
        """A progress display on stderr, silent when stderr is not a terminal."""
        return Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=self.err,
            transient=True,
            disable=not self.err.is_terminal,
        )


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
