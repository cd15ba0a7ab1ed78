"""A release on its way to the Hub: one commit with its parent named, then a tag that never moves.

Whatever breaks, the same call goes on: files that arrived are not sent again, a commit that arrived is
only tagged, a release that is there already is left alone.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from envgen.hub import explained
from envgen.publish import manifest as manifests
from envgen.publish.manifest import NAME, ReleaseManifest
from spadekit.errors import BadInput

T = TypeVar("T")
OURS = ("environments/", "plays/", "documents/", "plots/")
"""Folders that a release owns: files of an older one in them go when they are not in the new one."""
HARMLESS = (".gitattributes", "README.md", "LICENSE")
"""What a repository may hold that nobody has put data into."""
ROUNDS = 5
"""How often others may commit in between."""
PASSING = (408, 429, 500, 502, 503, 504)
FORBIDDEN, TAKEN, STALE = 403, 409, 412
LONGEST_PAUSE_S = 30.0


@dataclass(frozen=True)
class Remote:
    """What the Hub has: the newest commit, its files and release, and the release of the tag."""

    head: str
    files: tuple[str, ...]
    release: ReleaseManifest | None
    tagged: str = ""  # the commit of the tag, "" without one
    tag_release: ReleaseManifest | None = None


@dataclass(frozen=True)
class Uploaded:
    """Where a release is. ``made`` is False when it was there already."""

    commit: str
    tag: str
    url: str
    made: bool


Step = Literal["done", "tag", "commit"]


def decide(name: str, remote: Remote, mine: ReleaseManifest) -> Step:
    """Return what is left to do. Raises ``BadInput`` for a tag or a repository of something else."""
    if remote.tagged:
        if same(remote.tag_release, mine):
            return "done"
        holds = (
            f"the release `{remote.tag_release.tag}` ({remote.tag_release.content})"
            if remote.tag_release
            else "no release"
        )
        raise BadInput(
            f"{name}: the tag {mine.tag} is there already, at commit {remote.tagged[:12]} with {holds}, "
            f"not with this one ({mine.content}); tags never move, take another --tag"
        )
    if same(remote.release, mine):
        return "tag"
    strange = [path for path in remote.files if path not in HARMLESS]
    if remote.release is None and strange:
        raise BadInput(
            f"{name} holds other files ({', '.join(strange[:3])}{', ...' * (len(strange) > 3)}): publish "
            "into a data set of its own"
        )
    return "commit"


def same(one: ReleaseManifest | None, other: ReleaseManifest) -> bool:
    """Whether two manifests are of one release: the same rows under the same tag."""
    return one is not None and (one.content, one.tag) == (other.content, other.tag)


def upload(
    folder: Path,
    name: str,
    mine: ReleaseManifest,
    *,
    private: bool,
    patience_s: float,
    note: Callable[[str], None],
) -> Uploaded:
    """Publish the release in ``folder`` as the data set ``name``. Raises ``BadInput``."""
    from huggingface_hub import HfApi, errors

    api = HfApi()
    patient = _Patience(patience_s, note)
    with explained(f"hf://{name}"), _permitted(name, api.endpoint):
        _check_token(api, patient)
        for _ in range(ROUNDS):
            remote = patient(lambda: _look(api, name, mine.tag, private))
            step = decide(name, remote, mine)
            if step == "done":
                return Uploaded(remote.tagged, mine.tag, _url(api, name, mine.tag), False)
            try:
                commit = remote.head
                if step == "commit":
                    commit = patient(partial(_commit, api, folder, name, mine, remote))
                patient(partial(_tag, api, name, mine.tag, commit))
            except errors.HfHubHTTPError as error:
                if _status(error) not in (STALE, TAKEN):
                    raise
                note(f"{name} changed meanwhile; looking again")
            else:
                return Uploaded(commit, mine.tag, _url(api, name, mine.tag), True)
    raise BadInput(f"{name}: others keep committing there; publish again when they are done")


class _Patience:
    """Does work on the Hub again while it fails in passing, for so long."""

    def __init__(self, patience_s: float, note: Callable[[str], None]) -> None:
        self.patience_s, self.note = patience_s, note

    def __call__(self, work: Callable[[], T]) -> T:
        from huggingface_hub import errors

        transport = cast(type[Exception], errors.HfHubHTTPError.__bases__[0])
        end, pause = time.monotonic() + self.patience_s, 1.0
        while True:
            try:
                return work()
            except (transport, RuntimeError) as raised:
                # The client wraps what breaks the upload of one file into a RuntimeError.
                error = raised if isinstance(raised, transport) else raised.__cause__
                if not isinstance(error, transport):
                    raise
                status = _status(error)
                if status and status not in PASSING:
                    raise error from None
                wait = max(pause, _asked_to_wait(error))
                if time.monotonic() + wait > end:
                    raise BadInput(_given_up(error, status, wait)) from None
                self.note(f"the Hub: {_short(error)}; again in {wait:.0f} s")
            time.sleep(wait)
            pause = min(2 * pause, LONGEST_PAUSE_S)


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


def _look(api: Any, name: str, tag: str, private: bool) -> Remote:
    from huggingface_hub import errors

    try:
        refs = api.list_repo_refs(name, repo_type="dataset")
    except errors.RepositoryNotFoundError:
        api.create_repo(name, repo_type="dataset", private=private, exist_ok=True)
        refs = api.list_repo_refs(name, repo_type="dataset")
    head = next(one.target_commit for one in refs.branches if one.name == "main")
    tagged = next((one.target_commit for one in refs.tags if one.name == tag), "")
    files = tuple(api.list_repo_files(name, repo_type="dataset", revision=head))
    return Remote(
        head,
        files,
        _release(api, name, head),
        tagged,
        _release(api, name, tagged) if tagged else None,
    )


def _release(api: Any, name: str, commit: str) -> ReleaseManifest | None:
    from huggingface_hub import errors

    try:
        path = api.hf_hub_download(name, NAME, repo_type="dataset", revision=commit)
        return manifests.parse(Path(path).read_bytes(), f"{name}/{NAME}")
    except (errors.EntryNotFoundError, BadInput):
        return None


def _commit(api: Any, folder: Path, name: str, mine: ReleaseManifest, remote: Remote) -> str:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    files = manifests.listed(folder)
    gone = [path for path in remote.files if path.startswith(OURS) and path not in files]
    operations: list[Any] = [
        CommitOperationAdd(path_in_repo=path, path_or_fileobj=folder / path) for path in files
    ]
    operations += [CommitOperationDelete(path_in_repo=path) for path in gone]
    made = api.create_commit(
        name,
        operations,
        commit_message=f"Release {mine.tag}: {mine.rows('environments')} environments",
        repo_type="dataset",
        revision="main",
        parent_commit=remote.head,
    )
    return str(made.oid)


def _tag(api: Any, name: str, tag: str, commit: str) -> None:
    api.create_tag(name, tag=tag, revision=commit, repo_type="dataset")


def _url(api: Any, name: str, tag: str) -> str:
    return f"{api.endpoint}/datasets/{name}/tree/{tag}"


def _status(error: Exception) -> int:
    """Return the HTTP status of an answer, 0 when there was none."""
    return int(getattr(getattr(error, "response", None), "status_code", 0) or 0)


def _asked_to_wait(error: Exception) -> float:
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("Retry-After", 0)))
    except ValueError:
        return 0.0


def _given_up(error: Exception, status: int, wait: float) -> str:
    if status == 429:
        return (
            f"the Hub limits how often one may ask or commit (429), and wants {wait:.0f} s or more of "
            "rest; the same command goes on later, and what has arrived is not sent again"
        )
    return (
        f"the connection to the Hub keeps failing ({_short(error)}); the same command goes on from "
        "here, and what has arrived is not sent again"
    )


def _short(error: Exception) -> str:
    status = _status(error)
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return f"status {status}" if status else lines[0][:120]
