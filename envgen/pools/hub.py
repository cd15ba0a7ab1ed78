"""A pool that is a data set on the Hugging Face Hub: its tables and sources, downloaded as files.

Only files are taken: no code of a data set is ever run. What is there already in the Hub's cache is
not downloaded again, so an interrupted import goes on.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envgen.hub import SCHEME, explained, look_up
from envgen.pools.candidate import Found
from envgen.pools.limits import Limits, check_pool
from envgen.pools.local import LINES, SIDECAR, TABLES, is_environments, read
from spadekit.errors import BadInput


@dataclass(frozen=True)
class DataSet:
    """A data set of the Hub at one commit. ``files``: name -> bytes."""

    name: str
    commit: str
    files: Mapping[str, int]

    @property
    def uri(self) -> str:
        """The data set at its commit, as ``import`` takes it."""
        return f"{SCHEME}{self.name}@{self.commit}"


def find(uri: str) -> DataSet:
    """Return what a data set of the Hub holds. Raises ``BadInput``."""
    return DataSet(*look_up(uri))


def fetch(data: DataSet, names: Sequence[str], limits: Limits) -> Path:
    """Download files; return the folder they lie in. Raises ``BadInput``, before if they are too large."""
    check_pool({name: data.files[name] for name in names}, limits, data.uri)
    from huggingface_hub import snapshot_download

    with explained(data.uri):
        folder = snapshot_download(
            data.name,
            repo_type="dataset",
            revision=data.commit,
            allow_patterns=[_literal(name) for name in names],
        )
    return Path(folder)


def read_hub(data: DataSet, limits: Limits) -> Iterator[Found]:
    """Yield what the data set holds. Raises ``BadInput``."""
    sources = [name for name in data.files if name.lower().endswith(".py")]
    tables = [name for name in data.files if name.lower().endswith((*LINES, *TABLES))]
    tables = [name for name in tables if is_environments(name)] or tables
    if not sources + tables:
        raise BadInput(f"{data.uri}: no Parquet, JSON-lines or Python file in this data set")
    notes = [SIDECAR] if SIDECAR in data.files else []
    yield from read(fetch(data, [*sources, *tables, *notes], limits), limits)


def _literal(name: str) -> str:
    """Return a file's name as a pattern that matches nothing else."""
    return re.sub(r"([*?[])", r"[\1]", name)
