"""A pool that is a data set on the Hugging Face Hub: its tables and sources, downloaded as files.

Only files are taken: no code of a data set is ever run. What is there already in the Hub's cache is
not downloaded again, so an interrupted import goes on.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envgen.hub import SCHEME, explained, look_up
from envgen.pools.candidate import Found
from envgen.pools.local import LINES, TABLES, is_environments, read
from envgen.publish import manifest
from spadekit.errors import BadInput


@dataclass(frozen=True)
class DataSet:
    """A data set of the Hub at one commit; ``files`` are those that may hold environments."""

    name: str
    commit: str
    files: tuple[str, ...]

    @property
    def uri(self) -> str:
        """The data set at its commit, as ``import`` takes it."""
        return f"{SCHEME}{self.name}@{self.commit}"


def find(uri: str) -> DataSet:
    """Return what a data set of the Hub holds for a pool. Raises ``BadInput``."""
    name, commit, names = look_up(uri)
    files = [name for name in names if name.lower().endswith((".py", *LINES, *TABLES))]
    files = [name for name in files if name != manifest.NAME]
    tables = [name for name in files if not name.lower().endswith(".py")]
    if ours := [name for name in tables if is_environments(name)]:
        files = [name for name in files if name.lower().endswith(".py")] + ours
    if not files or not commit:
        raise BadInput(f"{uri}: no Parquet, JSON-lines or Python file in this data set")
    files += [name for name in names if name in ("seeds.toml", manifest.NAME)]
    return DataSet(name, commit, tuple(files))


def fetch(data: DataSet) -> Path:
    """Download the files; return the folder they lie in. Raises ``BadInput``."""
    from huggingface_hub import snapshot_download

    with explained(data.uri):
        folder = snapshot_download(
            data.name,
            repo_type="dataset",
            revision=data.commit,
            allow_patterns=[_literal(name) for name in data.files],
        )
    return Path(folder)


def read_hub(data: DataSet, largest: int) -> Iterator[Found]:
    """Yield what the data set holds. Raises ``BadInput``."""
    yield from read(fetch(data), largest)


def _literal(name: str) -> str:
    """Return a file's name as a pattern that matches nothing else."""
    return re.sub(r"([*?[])", r"[\1]", name)
