"""Documents that ground the designer's briefs: reading them, and drawing them in a seeded order."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from envgen.corpus.config import CorpusConfig
from spadekit.errors import BadInput
from spadekit.seeds import derive

BUILTIN_LICENCE = "CC0-1.0"
TEXT_KEYS = ("text", "orig_doc")


@dataclass(frozen=True)
class Document:
    """One document; ``id`` is unique in its corpus, ``licence`` is empty when it is not known."""

    id: str
    title: str
    text: str
    licence: str


class Corpus:
    """A non-empty list of documents and the order in which they are drawn.

    Drawing is without replacement: position ``p`` of the ``e``-th pass over ``n`` documents has
    index ``e * n + p``, and each pass has an order of its own. An index says it all, so a resumed
    run draws what the interrupted one would have drawn.
    """

    def __init__(self, documents: Sequence[Document], seed: int = 0) -> None:
        if not documents:
            raise BadInput("the corpus is empty; give it at least one document with text")
        self.documents = tuple(documents)
        self.seed = seed
        self._pass = lru_cache(maxsize=4)(self._shuffled)

    @classmethod
    def open(cls, config: CorpusConfig) -> "Corpus | None":
        """Open the recipe's corpus; ``None`` when it names none. Raises ``BadInput``."""
        if config.path == "none":
            return None
        if config.path == "builtin":
            folder = Path(str(files("envgen.corpus") / "documents"))
            documents = read(folder, licence=BUILTIN_LICENCE, max_words=config.max_words)
        else:
            documents = read(Path(config.path), max_words=config.max_words)
        return cls(documents, config.seed)

    def __len__(self) -> int:
        return len(self.documents)

    def order(self, epoch: int = 0) -> tuple[int, ...]:
        """Return the positions of all documents in the order of pass ``epoch`` (from 0)."""
        return self._pass(epoch)

    def at(self, index: int) -> Document:
        """Return the document drawn at ``index`` (from 0, any size)."""
        if index < 0:
            raise ValueError("index must be at least 0")
        epoch, position = divmod(index, len(self.documents))
        return self.documents[self.order(epoch)[position]]

    def _shuffled(self, epoch: int) -> tuple[int, ...]:
        rng = random.Random(derive(self.seed, "corpus", epoch))
        return tuple(rng.sample(range(len(self.documents)), len(self.documents)))


def read(path: Path, *, licence: str = "", max_words: int = 6000) -> list[Document]:
    """Read a folder of ``.md`` and ``.txt`` files (by name, deep) or one ``.jsonl`` file.

    Documents without text are left out. Raises ``BadInput`` naming the file and line when something
    cannot be read, and when nothing is left.
    """
    try:
        documents = [
            document
            for document in (_folder(path, licence) if path.is_dir() else _lines(path, licence))
            if document.text
        ]
    except OSError as error:
        raise BadInput(f"{path}: the corpus cannot be read: {error.strerror}") from None
    if not documents:
        raise BadInput(
            f"{path}: the corpus is empty; it needs .md or .txt files with text, "
            "or a .jsonl file with lines"
        )
    return [
        Document(document.id, document.title, _cut(document.text, max_words), document.licence)
        for document in documents
    ]


def _folder(path: Path, licence: str) -> Iterator[Document]:
    for file in sorted(path.rglob("*")):
        if file.suffix not in (".md", ".txt") or not file.is_file():
            continue
        try:
            text = file.read_text(encoding="utf-8").strip()
        except UnicodeDecodeError:
            raise BadInput(f"{file}: not UTF-8 text; convert it or move it away") from None
        name = file.relative_to(path).with_suffix("").as_posix()
        yield Document(name, _title(text) or file.stem, text, licence)


def _lines(path: Path, licence: str) -> Iterator[Document]:
    """Read one JSON object a line; beside the text ``id``, ``title``, ``licence`` are optional."""
    if path.suffix not in (".jsonl", ".ndjson"):
        raise BadInput(f"{path}: a corpus is a folder or a .jsonl file")
    seen: set[str] = set()
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{path}: line {number} is not JSON ({error})") from None
        if not isinstance(row, dict):
            raise BadInput(f"{path}: line {number} is not a JSON object")
        text = next((row[key] for key in TEXT_KEYS if key in row), None)
        if not isinstance(text, str):
            raise BadInput(f"{path}: line {number} has no text under `text` or `orig_doc`")
        name = str(row.get("id", f"{path.stem}-{number}"))
        if name in seen:
            raise BadInput(f"{path}: line {number} repeats the id {name!r}")
        seen.add(name)
        title = str(row.get("title") or _title(text) or name)
        yield Document(name, title, text.strip(), str(row.get("licence") or licence))


def _title(text: str) -> str:
    """Return the first line of a text without Markdown's marks, cut at 120 characters."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first.lstrip("# ").strip()[:120]


def _cut(text: str, max_words: int) -> str:
    """Return the text up to its ``max_words``-th word, spacing as it was."""
    end = 0
    for _ in range(max_words):
        while end < len(text) and text[end].isspace():
            end += 1
        while end < len(text) and not text[end].isspace():
            end += 1
        if end >= len(text):
            return text
    return text[:end]
