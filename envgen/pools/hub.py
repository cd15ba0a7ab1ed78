"""A pool that is a data set on the Hugging Face Hub: its tables and sources, downloaded as files.

Only files are taken: no code of a data set is ever run. What is there already in the Hub's cache is
not downloaded again, so an interrupted import goes on.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from envgen.pools.candidate import Found
from envgen.pools.local import LINES, TABLES, is_environments, read
from spadekit.errors import BadInput

SCHEME = "hf://"
NAME = re.compile(r"(?:datasets/)?([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")


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
    """Ask the Hub what ``hf://USER/NAME[@REVISION]`` is. Raises ``BadInput``."""
    match = NAME.fullmatch(uri.removeprefix(SCHEME))
    if match is None:
        raise BadInput(f"{uri}: write a data set of the Hub as {SCHEME}USER/NAME or with @REVISION")
    from huggingface_hub import HfApi

    with _explained(uri):
        info = HfApi().dataset_info(match[1], revision=match[2])
    names = [sibling.rfilename for sibling in info.siblings or ()]
    files = [name for name in names if name.lower().endswith((".py", *LINES, *TABLES))]
    tables = [name for name in files if not name.endswith(".py")]
    if ours := [name for name in tables if is_environments(name)]:
        files = [name for name in files if name.endswith(".py")] + ours
    if not files or not info.sha:
        raise BadInput(f"{uri}: no Parquet, JSON-lines or Python file in this data set")
    files += [name for name in names if name == "seeds.toml"]
    return DataSet(match[1], info.sha, tuple(files))


def fetch(data: DataSet) -> Path:
    """Download the files; return the folder they lie in. Raises ``BadInput``."""
    from huggingface_hub import snapshot_download

    with _explained(data.uri):
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


@contextmanager
def _explained(uri: str) -> Iterator[None]:
    """Turn what the Hub's client raises into one line."""
    from huggingface_hub import errors

    # Which HTTP library the client uses is its own affair; its errors derive from that library's.
    transport = cast(type[Exception], errors.HfHubHTTPError.__bases__[0])
    try:
        yield
    except errors.GatedRepoError:
        raise BadInput(f"{uri}: gated; ask for access and set HF_TOKEN") from None
    except errors.RepositoryNotFoundError:
        detail = "no such data set on the Hub, or a private one (set HF_TOKEN)"
        raise BadInput(f"{uri}: {detail}") from None
    except errors.RevisionNotFoundError:
        raise BadInput(f"{uri}: the data set has no such revision") from None
    except (transport, OSError, errors.HFValidationError) as error:
        text = str(error).strip().splitlines() or [type(error).__name__]
        raise BadInput(f"{uri}: the Hub cannot be used: {text[0][:200]}") from None
