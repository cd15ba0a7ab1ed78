"""The documents that ground briefs: a shelf for games, a shelf for tools, or one for both."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from envgen.corpus.config import CorpusConfig
from envgen.corpus.document import Document
from envgen.corpus.hub import open_hub
from envgen.corpus.local import Files
from envgen.hub import SCHEME

BUILTIN_LICENCE = "CC0-1.0"
BUILTIN_FOLDERS = {"game": "games", "tool_use": "tools"}
SHARED = "both"


class Shelf(Protocol):
    """Documents in an order that never ends: without replacement, pass after pass."""

    def at(self, index: int) -> Document:
        """Return the document drawn at ``index`` (from 0, any size). Raises ``BadInput``."""


class Corpus:
    """The shelf of each setting, and how far into each a run has drawn."""

    def __init__(self, shelves: Mapping[str, Shelf], max_tokens: int) -> None:
        self.shelves, self.max_tokens = dict(shelves), max_tokens

    @classmethod
    def open(
        cls,
        config: CorpusConfig,
        kept: Path | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> "Corpus":
        """Open the documents of a recipe, none where it names none.

        ``kept`` is the folder for what is worth remembering: the index of large files, the commit
        of a data set. Raises ``BadInput`` for what cannot be read or is empty.
        """
        paths = {"game": config.path, "tool_use": config.tools_path or config.path}
        if paths["game"] == paths["tool_use"] != "builtin":
            paths = {SHARED: config.path}
        shelves = {
            shelf: _open(path, shelf, config.seed, kept, note)
            for shelf, path in paths.items()
            if path != "none"
        }
        return cls(shelves, config.max_tokens)

    def shelf(self, setting: str) -> str:
        """Return the name of the shelf that a setting draws from, "" when it has none."""
        return next((name for name in (setting, SHARED) if name in self.shelves), "")

    def at(self, shelf: str, index: int) -> Document:
        """Return the document drawn at ``index`` from a shelf. Raises ``BadInput``."""
        return self.shelves[shelf].at(index)

    def drawn(self, before: Mapping[str, int], settings: Iterable[str]) -> dict[str, int]:
        """Return how many documents each shelf has given after briefs of these settings."""
        shelves = (self.shelf(setting) for setting in settings)
        return dict(Counter(before) + Counter(shelf for shelf in shelves if shelf))


def builtin(setting: str, seed: int = 0) -> Files:
    """Return the documents that ship with the project for a setting."""
    folder = Path(str(files("envgen.corpus") / "documents")) / BUILTIN_FOLDERS[setting]
    return Files.open(folder, seed=seed, licence=BUILTIN_LICENCE)


def _open(
    path: str, shelf: str, seed: int, kept: Path | None, note: Callable[[str], None]
) -> Shelf:
    if path == "builtin":
        return builtin(shelf, seed)
    if path.startswith(SCHEME):
        return open_hub(path, seed, kept, note)
    return Files.open(Path(path), seed=seed, kept=kept, note=note)
