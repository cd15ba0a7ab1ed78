"""A release on its way to the Hub: one commit with its parent named, then a tag that never moves.

Whatever breaks, the same call goes on: files that arrived are not sent again, a commit that arrived is
only tagged, a release that is there already is left alone.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from envgen.hub import explained
from envgen.hubclient import patient_client
from envgen.publish import manifest as manifests
from envgen.publish.manifest import ReleaseManifest
from envgen.publish.remote import TABLES, Remote, look, same, title
from spadekit.errors import BadInput, OurFault

T = TypeVar("T")
HARMLESS = (".gitattributes", "README.md", "LICENSE")
"""What a repository may hold that nobody has put data into; a card gives way to ours."""
ROUNDS = 5
"""How often others may commit in between."""
PASSING = (408, 429, 500, 502, 503, 504)
FORBIDDEN, TAKEN, STALE = 403, 409, 412
LONGEST_PAUSE_S = 30.0
SPENT = re.compile(r"\br=0;t=(\d+)")
"""How the Hub says that nothing is left of a rate limit, and for how many seconds."""
ANSWER_S = 120.0
"""How long the Hub may be silent before a connection counts as broken."""


@dataclass(frozen=True)
class Uploaded:
    """Where a release is. ``made`` is False when it was there already."""

    commit: str
    tag: str
    url: str
    made: bool
    private: bool


Step = Literal["done", "tag", "commit"]


def decide(name: str, remote: Remote, mine: ReleaseManifest) -> Step:
    """Return what is left to do. Raises ``BadInput`` for a tag or a repository of something else."""
    if remote.tagged:
        _check_tag(name, remote, mine)
        return "done"
    if remote.made:
        return "tag"
    strange = [path for path in remote.head.foreign() if path not in HARMLESS]
    if remote.head.release is None and strange:
        raise BadInput(
            f"{name} holds other files ({_few(strange)}): publish into a data set of its own"
        )
    mixed = [path for path in strange if path in mine.files or TABLES.fullmatch(path)]
    if mixed:
        raise BadInput(
            f"{name} holds {_few(mixed)}, of no release, which would be mixed into this one or lost; "
            "move it elsewhere in the repository"
        )
    return "commit"


def _check_tag(name: str, remote: Remote, mine: ReleaseManifest) -> None:
    held = remote.tagged
    assert held is not None
    if same(held.release, mine):
        if not remote.damage:
            return
        holds = f"the manifest of this release, but other files ({_few(remote.damage)})"
    elif held.release is None:
        holds = f"no release, not with this one ({mine.content})"
    elif (held.release.tag, held.release.content) == (mine.tag, mine.content):
        holds = (
            "the rows of this release in other files, of other versions of the libraries or changed"
        )
    else:
        holds = f"the release `{held.release.tag}` ({held.release.content}), not with this one"
        holds += f" ({mine.content})"
    raise BadInput(
        f"{name}: the tag {mine.tag} is there already, at commit {held.commit[:12]} with {holds}; "
        "tags never move, take another --tag"
    )


def _few(paths: Sequence[str]) -> str:
    return f"{', '.join(paths[:3])}{', ...' * (len(paths) > 3)}"


def upload(
    folder: Path,
    name: str,
    mine: ReleaseManifest,
    *,
    private: bool,
    patience_s: float,
    note: Callable[[str], None],
) -> Uploaded:
    """Publish the release in ``folder`` as the data set ``name``. Raises ``BadInput``, ``OurFault``."""
    from huggingface_hub import HfApi, errors

    patient_client(ANSWER_S)
    api = HfApi()
    patient = _Patience(patience_s, note)
    with explained(f"hf://{name}"), _permitted(name, api.endpoint):
        _check_token(api, patient)
        for _ in range(ROUNDS):
            remote = patient(partial(look, api, name, mine, private=private))
            url = f"{api.endpoint}/datasets/{name}/tree/{mine.tag}"
            step = decide(name, remote, mine)
            if remote.tagged:  # step is "done"
                return Uploaded(remote.tagged.commit, mine.tag, url, False, remote.private)
            try:
                commit = remote.made
                if step == "commit":
                    commit = patient(partial(_commit, api, folder, name, mine, remote))
                patient(partial(_tag, api, name, mine.tag, commit))
            except errors.HfHubHTTPError as error:
                if _status(error) not in (STALE, TAKEN):
                    raise
                note(f"{name} changed meanwhile; looking again")
            else:
                return Uploaded(commit, mine.tag, url, True, remote.private)
    raise BadInput(f"{name}: others keep committing there; publish again when they are done")


class _Patience:
    """Does work on the Hub again while it fails in passing, for so long."""

    def __init__(self, patience_s: float, note: Callable[[str], None]) -> None:
        self.patience_s, self.note = patience_s, note

    def __call__(self, work: Callable[[], T]) -> T:
        end, pause = time.monotonic() + self.patience_s, 1.0
        while True:
            try:
                return work()
            except Exception as raised:
                error = _cause(raised)
                if not _passing(error):
                    raise error from None
                wait = max(pause, _asked_to_wait(error))
                if time.monotonic() + wait > end:
                    raise _given_up(error, wait) from None
                self.note(f"the Hub: {_short(error)}; again in {wait:.0f} s")
            time.sleep(wait)
            pause = min(2 * pause, LONGEST_PAUSE_S)


def _cause(raised: Exception) -> Exception:
    """Return what the client has wrapped.

    What breaks the transfer of a file comes as a RuntimeError from an upload, and from a download as the
    complaint that the file is not in its cache.
    """
    from huggingface_hub import errors

    wraps = isinstance(raised, RuntimeError | errors.LocalEntryNotFoundError)
    return raised.__cause__ if wraps and isinstance(raised.__cause__, Exception) else raised


def _passing(error: Exception) -> bool:
    """Whether an error may be gone in a moment."""
    from huggingface_hub import errors

    transport = cast(type[Exception], errors.HfHubHTTPError.__bases__[0])
    if isinstance(error, transport):
        status = _status(error)
        return not status or status in PASSING
    # A proxy in trouble answers in HTML, and hf_xet, which carries the large files, has errors of
    # its own: those of Python for a connection, and a bare RuntimeError for anything else.
    kinds = (ConnectionError, TimeoutError, json.JSONDecodeError)
    return isinstance(error, kinds) or type(error) is RuntimeError


@contextmanager
def _permitted(name: str, endpoint: str) -> Iterator[None]:
    """Say what to do about a token that may not write."""
    from huggingface_hub import errors

    try:
        yield
    except errors.HfHubHTTPError as error:
        if _status(error) != FORBIDDEN:
            raise
        raise BadInput(
            f"{name}: this token may not write there; make one that may at {endpoint}/settings/tokens"
        ) from None


def _check_token(api: Any, patient: _Patience) -> None:
    from huggingface_hub import errors

    try:
        patient(api.whoami)
    except errors.LocalTokenNotFoundError:
        raise BadInput(
            "no token for the Hub: set HF_TOKEN to one that may write, or run `hf auth login`; "
            "--dry-run DIR needs none"
        ) from None
    except errors.HfHubHTTPError as error:
        if _status(error) != 401:
            raise
        raise BadInput("the Hub does not know this token; set HF_TOKEN to a new one") from None


def _commit(api: Any, folder: Path, name: str, mine: ReleaseManifest, remote: Remote) -> str:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, errors

    files = manifests.listed(folder)
    former = remote.head.release.files if remote.head.release else ()
    gone = [path for path in former if path in remote.head.files and path not in files]
    operations: list[Any] = [
        CommitOperationAdd(path_in_repo=path, path_or_fileobj=folder / path) for path in files
    ]
    operations += [CommitOperationDelete(path_in_repo=path) for path in gone]
    try:
        made = api.create_commit(
            name,
            operations,
            commit_message=title(mine),
            repo_type="dataset",
            revision="main",
            parent_commit=remote.head.commit,
        )
    except ValueError as error:
        if not isinstance(error.__cause__, errors.BadRequestError):
            raise
        # So the client says what the Hub has against the card, such as a licence that it does not know.
        lines = [line.strip(" -") for line in str(error).splitlines() if line.strip()]
        raise BadInput(f"{name}: the Hub refuses the release: {' '.join(lines)[:300]}") from None
    return str(made.oid)


def _tag(api: Any, name: str, tag: str, commit: str) -> None:
    api.create_tag(name, tag=tag, revision=commit, repo_type="dataset")


def _status(error: Exception) -> int:
    """Return the HTTP status of an answer, 0 when there was none."""
    return int(getattr(getattr(error, "response", None), "status_code", 0) or 0)


def _asked_to_wait(error: Exception) -> float:
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    spent = SPENT.search(headers.get("RateLimit", ""))
    asked = spent[1] if spent else headers.get("Retry-After", "")
    # A date is not understood; then the pauses that grow by themselves must do.
    return float(asked) if asked.isdecimal() else 0.0


def _given_up(error: Exception, wait: float) -> Exception:
    if _status(error) == 429:
        return BadInput(
            f"the Hub limits how often one may ask or commit (429), and wants {wait:.0f} s or more of "
            "rest; the same command goes on later, and what has arrived is not sent again"
        )
    if type(error) is RuntimeError:
        return OurFault(
            f"the transfer of the files keeps failing ({_short(error)}); the same command goes on from "
            "here, and HF_HUB_DISABLE_XET=1 sends them without hf_xet"
        )
    return BadInput(
        f"the connection to the Hub keeps failing ({_short(error)}); the same command goes on from "
        "here, and what has arrived is not sent again"
    )


def _short(error: Exception) -> str:
    status = _status(error)
    if isinstance(error, json.JSONDecodeError):
        return "an answer that is no JSON"
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return f"status {status}" if status else lines[0][:120]
