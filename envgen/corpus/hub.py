"""Documents of a data set on the Hugging Face Hub, streamed: nothing is downloaded whole.

The order is that of a seeded shuffle (``datasets`` shuffles the files and keeps a buffer of rows) of
one commit, so the ``i``-th document is the same whenever it is asked for. To get there a resumed run
reads what came before again: rows pass by, nothing is stored. The commit is kept in the home, so that
a push to the data set does not deal a running run other cards.
"""

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from envgen.corpus.document import Document, from_row
from envgen.hub import SCHEME, look_up
from spadekit.errors import BadInput
from spadekit.files import write_json
from spadekit.seeds import derive

BUFFER = 1000
"""Rows that wait in memory; each document drawn is one of so many, chosen by the seed."""


class Stream:
    """The documents that passes over something without a known end yield, one pass after another.

    Asking for larger and larger indices reads on; a smaller one starts again.
    """

    def __init__(self, passes: Callable[[int], Iterator[Document]], name: str) -> None:
        self._passes, self._name = passes, name
        self._documents, self._next = self._all(), 0

    def at(self, index: int) -> Document:
        """Return the document drawn at ``index`` (from 0, any size). Raises ``BadInput``."""
        if index < self._next:
            self._documents, self._next = self._all(), 0
        document = next(itertools.islice(self._documents, index - self._next, None))
        self._next = index + 1
        return document

    def _all(self) -> Iterator[Document]:
        for epoch in itertools.count():
            empty = True
            for document in self._passes(epoch):
                empty = False
                yield document
            if empty:
                raise BadInput(f"{self._name}: the corpus is empty; it needs rows with `text`")


def open_hub(uri: str, seed: int, kept: Path | None, note: Callable[[str], None]) -> Stream:
    """Open ``hf://USER/NAME[@REVISION]``; ``kept`` is the folder that remembers its commit.

    Raises ``BadInput`` for what is not there, cannot be reached or has no text, before a run starts.
    """
    name, commit = _pinned(uri, kept)
    note(f"{SCHEME}{name}: documents are streamed from commit {commit[:12]}")

    def documents(epoch: int) -> Iterator[Document]:
        rows = _rows(uri, name, commit, derive(seed, "corpus", epoch) % 2**32)
        for number, row in enumerate(rows, start=1):
            try:
                document = from_row(row, f"{name}-{epoch}-{number}")
            except ValueError as error:
                raise BadInput(f"{uri}: a row has {error}") from None
            if document.text:
                yield document

    stream = Stream(documents, uri)
    stream.at(0)
    return stream


def _pinned(uri: str, kept: Path | None) -> tuple[str, str]:
    """Return a data set's name and commit: the one it had when this home first used it."""
    digest = hashlib.sha256(uri.encode()).hexdigest()[:16]
    place = kept / f"{digest}.json" if kept else None
    if place is not None and place.exists():
        try:
            known = json.loads(place.read_text())
            return str(known["name"]), str(known["commit"])
        except (OSError, ValueError, KeyError, TypeError):
            raise BadInput(f"{place}: damaged; remove it to use the newest commit") from None
    name, commit, _ = look_up(uri)
    if place is not None:
        try:
            write_json(place, {"uri": uri, "name": name, "commit": commit})
        except OSError as error:
            raise BadInput(f"{place}: cannot be written: {error.strerror or error}") from None
    return name, commit


def _rows(uri: str, name: str, commit: str, seed: int) -> Iterator[dict[str, Any]]:
    import datasets

    try:
        found = datasets.load_dataset(name, revision=commit, streaming=True)
        rows = found["train"] if "train" in found else next(iter(found.values()))
        # One file at a time, in a shuffled order: reading several takes threads, and `datasets`
        # then sleeps for ten seconds whenever a pass ends.
        yield from rows.shuffle(seed=seed, buffer_size=BUFFER, max_buffer_input_shards=1)
    # Reading a data set is a stack of libraries (files, formats, HTTP), each with its own errors.
    except Exception as error:
        text = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise BadInput(f"{uri}: the data set cannot be streamed: {text[:200]}") from None
