"""Asking the Hugging Face Hub about a data set, with errors that are one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from spadekit.errors import BadInput

SCHEME = "hf://"
NAME = re.compile(r"(?:datasets/)?([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")


def look_up(uri: str) -> tuple[str, str, list[str]]:
    """Ask the Hub for ``hf://USER/NAME[@REVISION]``: its name, commit and files. Raises ``BadInput``."""
    match = NAME.fullmatch(uri.removeprefix(SCHEME))
    if match is None:
        raise BadInput(f"{uri}: write a data set of the Hub as {SCHEME}USER/NAME or with @REVISION")
    from huggingface_hub import HfApi

    with explained(uri):
        info = HfApi().dataset_info(match[1], revision=match[2])
    return match[1], info.sha or "", [sibling.rfilename for sibling in info.siblings or ()]


@contextmanager
def explained(uri: str) -> Iterator[None]:
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
