"""The documents that environments were written about, and whether their licence lets them go along."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from envgen.corpus import CorpusConfig, Document, Files, builtin
from envgen.hub import SCHEME
from envgen.publish.origins import origins
from memory import EnvironmentRecord


class Documents:
    """The documents of the environments of a release.

    ``shards``: the tables of environments and of designs of each.
    """

    def __init__(
        self,
        shards: Iterable[tuple[pa.Table, pa.Table]],
        config: CorpusConfig,
        licences: Sequence[str],
        kept: Path | None,
    ) -> None:
        self._licences = licences
        wanted: dict[str, set[str]] = {}
        foreign: set[str] = set()
        for environments, designs in shards:
            imported = origins(designs)
            for row in environments.select(["id", "setting", "document"]).to_pylist():
                if row["id"] in imported:
                    # It was written about a document of another corpus than ours.
                    foreign.add(row["document"])
                elif row["document"]:
                    wanted.setdefault(row["setting"], set()).add(row["document"])
        found = look_up(config, wanted, kept)
        own = set().union(*wanted.values())
        self._ambiguous = found.ambiguous | (own & foreign)
        self._known = {
            name: one for name, one in found.documents.items() if name not in self._ambiguous
        }
        self._wanted: set[str] = set()

    def licence(self, record: EnvironmentRecord) -> str:
        """Return the licence of the document of an environment, "" when it is not known."""
        document = self._known.get(record.document)
        return document.licence if document else ""

    def want(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Note the documents of rows that go along."""
        self._wanted.update(row["document"] for row in rows if row["document"])

    def going(self) -> list[dict[str, Any]]:
        """Return the rows of those documents whose licence lets them go along."""
        wanted = [self._known[name] for name in sorted(self._wanted & self._known.keys())]
        return [asdict(one) for one in wanted if may_go(one, self._licences)]

    def left(self) -> tuple[int, int]:
        """Return how many stay here, and how many of those because their id names several texts."""
        return len(self._wanted) - len(self.going()), len(self._wanted & self._ambiguous)


@dataclass(frozen=True)
class Found:
    """Documents by id, and the ids that stand for several texts: which one was meant is not known."""

    documents: Mapping[str, Document]
    ambiguous: frozenset[str] = frozenset()


def look_up(
    config: CorpusConfig, wanted: Mapping[str, Collection[str]], kept: Path | None
) -> Found:
    """Return the documents that the corpus of the recipe has of those ``wanted`` by setting.

    Only the shelf that a setting draws from is asked for its ids. Raises ``BadInput``. What is
    streamed from the Hub is not looked up: its rows have no place that could be asked for.
    """
    found: dict[str, Document] = {}
    ambiguous: set[str] = set()
    for shelf, ids in _shelves(config, wanted, kept):
        for document in (shelf.read(position) for position in range(len(shelf))):
            # The first one does not end the search: another text may bear the same id.
            if document.id in ids and found.setdefault(document.id, document) != document:
                ambiguous.add(document.id)
    known = {name: one for name, one in found.items() if name not in ambiguous}
    return Found(known, frozenset(ambiguous))


def may_go(document: Document, licences: Sequence[str]) -> bool:
    """Whether a document's licence is one of those listed, in whatever case it is written."""
    return document.licence.strip().lower() in {one.lower() for one in licences}


def _shelves(
    config: CorpusConfig, wanted: Mapping[str, Collection[str]], kept: Path | None
) -> Iterator[tuple[Files, Collection[str]]]:
    """Yield each shelf that has to be asked, and the ids that it is asked for."""
    paths = {"game": config.path, "tool_use": config.tools_path or config.path}
    asked: dict[str, set[str]] = {}
    for setting, path in paths.items():
        ids = set(wanted.get(setting, ()))
        if not ids or path == "none" or path.startswith(SCHEME):
            continue
        if path == "builtin":
            yield builtin(setting), ids
        else:
            asked.setdefault(path, set()).update(ids)
    for path, ids in asked.items():
        yield Files.open(Path(path), kept=kept), ids
