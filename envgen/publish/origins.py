"""Where imported environments come from, as the rows of their import tell."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from envgen.hub import SCHEME
from envgen.publish.benchmarks import PACKAGES


@dataclass(frozen=True)
class Origin:
    """Where an environment was imported from. ``address`` is empty for files of somebody's machine."""

    address: str  # hf://USER/NAME@COMMIT or a package
    place: str  # the file and row, or the task
    believed: bool = False
    """Its certificate was taken on the word of the release that it came from."""

    @property
    def shown(self) -> str:
        """The address, in words where there is none."""
        return self.address or "files of whoever published this"


def origins(designs: pa.Table) -> Mapping[str, Origin]:
    """Return the origins of those environments of a shard that were imported, by id.

    ``designs`` has the columns ``environment`` and ``brief``. The brief of an import has ``uri`` and
    ``place``, where it was imported from, and, when that was a release that had it from elsewhere,
    ``first``: the ``uri`` and ``place`` that the release tells, its columns ``origin`` and
    ``origin_place``. The first place counts, so that a benchmark's task is one however often it went on.
    """
    found = {}
    for row in designs.select(["environment", "brief"]).to_pylist():
        if row["environment"]:
            brief = json.loads(row["brief"])
            if brief.get("origin") == "import":
                believed = brief.get("certificate") == "believed"
                first = brief.get("first", brief)
                found[row["environment"]] = Origin(_public(first["uri"]), first["place"], believed)
    return found


def believed(shards: Iterable[pa.Table]) -> set[str]:
    """Return the ids of environments that nobody certified where they were imported.

    ``shards`` are the designs of shards in order: what was believed may be certified in a later one.
    """
    found: set[str] = set()
    for designs in shards:
        for name, origin in origins(designs).items():
            (found.add if origin.believed else found.discard)(name)
    return found


def benchmark(origin: Origin | None) -> str:
    """Return the task of a benchmark's own package that an environment was made from, or ""."""
    package = origin.place.partition(":")[0] if origin else ""
    return origin.place if origin and package in PACKAGES else ""


def _public(uri: str) -> str:
    return uri if uri.startswith(SCHEME) or uri.partition(":")[0] in PACKAGES else ""
