"""Who an environment comes from, and what came from it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from memory.tables import Tables, any_of, quoted

_DEEPEST = 64  # generations; a circle ends sooner, since nobody is met twice


@dataclass(frozen=True)
class Relative:
    """An ancestor or a descendant, ``generations`` away. ``title`` "" when it is not in the store."""

    id: str
    title: str
    shard: int
    generations: int


@dataclass(frozen=True)
class Lineage:
    """Both directions, the nearest first."""

    ancestors: tuple[Relative, ...]
    descendants: tuple[Relative, ...]


def trace(tables: Tables, start: str, parents: Sequence[str]) -> Lineage:
    """Return the ancestors and descendants of the environment ``start``."""
    columns = ["id", "title", "shard", "parents"]

    def above(ids: Sequence[str]) -> pa.Table:
        return tables.scan("environments", any_of("id", ids), columns)

    def below(ids: Sequence[str]) -> pa.Table:
        listed = ", ".join(map(quoted, ids))
        return tables.scan("environments", f"array_has_any(parents, [{listed}])", columns)

    return Lineage(tuple(_up(start, parents, above)), tuple(_down(start, below)))


def _up(
    start: str, parents: Iterable[str], above: Callable[[Sequence[str]], pa.Table]
) -> list[Relative]:
    found: list[Relative] = []
    seen, ids = {start}, sorted({one for one in parents if one != start})
    for generation in range(1, _DEEPEST):
        if not ids:
            break
        seen.update(ids)
        rows = {row["id"]: row for row in above(ids).to_pylist()}
        for one in ids:
            row = rows.get(one, {"title": "", "shard": 0})
            found.append(Relative(one, row["title"], row["shard"], generation))
        older = {parent for row in rows.values() for parent in row["parents"]}
        ids = sorted(older - seen)
    return found


def _down(start: str, below: Callable[[Sequence[str]], pa.Table]) -> list[Relative]:
    found: list[Relative] = []
    seen, ids = {start}, [start]
    for generation in range(1, _DEEPEST):
        if not ids:
            break
        rows = [row for row in below(ids).to_pylist() if row["id"] not in seen]
        rows.sort(key=lambda row: (row["shard"], row["id"]))
        ids = [row["id"] for row in rows]
        seen.update(ids)
        found += [Relative(row["id"], row["title"], row["shard"], generation) for row in rows]
    return found
