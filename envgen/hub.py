"""Asking the Hugging Face Hub about a data set, with errors that are one line."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from envgen.hubclient import patient_client
from spadekit.errors import BadInput

SCHEME = "hf://"
SILENCE_S = 120.0
"""How long the Hub may be silent before a connection counts as broken."""
_ADDRESS = re.compile(r"(?:datasets/)?([\w.-]+/[\w.-]+)(?:@([\w./-]+))?", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")


def look_up(uri: str) -> tuple[str, str, dict[str, int]]:
    """Ask the Hub for ``hf://USER/NAME[@REVISION]``: its name, commit, and files.

    Files are given with their bytes, -1 where the Hub does not tell. Raises ``BadInput``.
    """
    name, revision = parse(uri)
    from huggingface_hub import HfApi

    patient_client(SILENCE_S)
    with explained(uri):
        # Said here as well: a call without it lifts the bound that its client has.
        info = HfApi().dataset_info(
            name, revision=revision or None, files_metadata=True, timeout=SILENCE_S
        )
    commit = info.sha or ""
    if not is_commit(commit):
        raise BadInput(f"{uri}: the Hub names no commit for it")
    if is_commit(revision) and commit != revision:
        raise BadInput(
            f"{uri}: the Hub answers with another commit, {commit}: a name that looks like one"
        )
    sizes = {one.rfilename: -1 if one.size is None else one.size for one in info.siblings or ()}
    return name, commit, sizes


def parse(uri: str) -> tuple[str, str]:
    """Return USER/NAME and the revision, "" without one, of ``hf://USER/NAME[@REVISION]``.

    Raises ``BadInput``.
    """
    match = _ADDRESS.fullmatch(uri.removeprefix(SCHEME))
    if match is None:
        raise BadInput(f"{uri}: write a data set of the Hub as {SCHEME}USER/NAME or with @REVISION")
    return match[1], match[2] or ""


def is_commit(revision: str) -> bool:
    """Whether a revision is a commit, whole; anything else is a name, which may move."""
    return _COMMIT.fullmatch(revision) is not None


@contextmanager
def explained(uri: str) -> Iterator[None]:
    """Turn what the Hub's client raises into one line."""
    import httpx2
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError:
        raise BadInput(f"{uri}: gated; ask for access and set HF_TOKEN") from None
    except errors.RepositoryNotFoundError:
        detail = "no such data set on the Hub, or a private one (set HF_TOKEN)"
        raise BadInput(f"{uri}: {detail}") from None
    except errors.RevisionNotFoundError:
        raise BadInput(f"{uri}: the data set has no such revision") from None
    except json.JSONDecodeError:
        raise BadInput(f"{uri}: the Hub cannot be used: its answer is no JSON") from None
    except (httpx2.HTTPError, OSError, errors.HFValidationError) as error:
        text = str(error).strip().splitlines() or [type(error).__name__]
        raise BadInput(f"{uri}: the Hub cannot be used: {text[0][:200]}") from None
