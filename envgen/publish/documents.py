"""The documents that environments were written about, and whether their licence lets them go along."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from envgen.corpus import CorpusConfig, Document, Files, builtin
from envgen.hub import SCHEME


def look_up(
    config: CorpusConfig, wanted: Collection[str], kept: Path | None
) -> dict[str, Document]:
    """Return those documents that the corpus of the recipe has, by id. Raises ``BadInput``.

    What is streamed from the Hub is not looked up: its rows have no place that could be asked for.
    """
    found: dict[str, Document] = {}
    for shelf in _shelves(config, kept) if wanted else ():
        for position in range(len(shelf)):
            document = shelf.read(position)
            if document.id in wanted:
                found.setdefault(document.id, document)
            if len(found) == len(wanted):
                return found
    return found


def may_go(document: Document, licences: Sequence[str]) -> bool:
    """Whether a document's licence is one of those listed, in whatever case it is written."""
    return document.licence.strip().lower() in {one.lower() for one in licences}


def _shelves(config: CorpusConfig, kept: Path | None) -> Iterator[Files]:
    paths = {"game": config.path, "tool_use": config.tools_path or config.path}
    for setting, path in paths.items():
        if path == "builtin":
            yield builtin(setting)
        elif path != "none" and not path.startswith(SCHEME):
            yield Files.open(Path(path), kept=kept)
