"""What the Hub has of a data set: its newest commit, its tag, and the releases in them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envgen.publish import manifest as manifests
from envgen.publish.manifest import NAME, ReleaseManifest
from envgen.publish.rows import SCHEMAS
from spadekit.errors import BadInput

TABLES = re.compile(rf"(?:{'|'.join(SCHEMAS)})/[^/]+\.parquet")
"""Files that the card's globs take into the data set, whoever put them there."""


@dataclass(frozen=True)
class Snapshot:
    """One commit: its files with their sizes and SHA-256 sums (None where it keeps none), its release."""

    commit: str
    files: Mapping[str, tuple[int, str | None]]
    release: ReleaseManifest | None

    def foreign(self) -> tuple[str, ...]:
        """Return the files that the release does not list; without a release, all."""
        own = {NAME, *self.release.files} if self.release else set()
        return tuple(path for path in self.files if path not in own)


@dataclass(frozen=True)
class Remote:
    """What the Hub has. ``damage``: what in the tag's files is not as its manifest says.

    ``made`` is the commit that brought the release that is to be published, "" when none did; it is
    looked for when there is no tag.
    """

    head: Snapshot
    private: bool
    tagged: Snapshot | None = None
    damage: tuple[str, ...] = ()
    made: str = ""


def same(one: ReleaseManifest | None, other: ReleaseManifest) -> bool:
    """Whether two manifests are of one release: the same rows in the same files under one tag."""
    return one is not None and _facts(one) == _facts(other)


def title(mine: ReleaseManifest) -> str:
    """Return the title of a release's commit."""
    return f"Release {mine.tag}: {mine.rows('environments')} environments"


def look(api: Any, name: str, mine: ReleaseManifest, *, private: bool) -> Remote:
    """Return what the Hub has of a data set, which is made when it is not there.

    Raises ``BadInput`` for one of another name or one that everybody sees and should not, and for a
    release of a newer version.
    """
    from huggingface_hub import errors

    try:
        info = api.dataset_info(name)
    except errors.RepositoryNotFoundError:
        api.create_repo(name, repo_type="dataset", private=private, exist_ok=True)
        info = api.dataset_info(name)
    if info.id != name:
        raise BadInput(f"{name} is called {info.id} on the Hub; publish to that name")
    if private and not info.private:
        raise BadInput(
            f"{name} is public, and --private only makes a new data set private: make it private in "
            "its settings on the Hub, or publish without --private"
        )
    refs = api.list_repo_refs(name, repo_type="dataset")
    head = _snapshot(
        api, name, next(one.target_commit for one in refs.branches if one.name == "main")
    )
    tagged = next((one.target_commit for one in refs.tags if one.name == mine.tag), "")
    if not tagged:
        made = _made(api, name, mine, head) if head.release else ""
        return Remote(head, bool(info.private), made=made)
    held = _snapshot(api, name, tagged)
    damage = _damage(api, name, held) if same(held.release, mine) else ()
    return Remote(head, bool(info.private), held, damage)


def _facts(release: ReleaseManifest) -> tuple[object, ...]:
    tables = {path: file.sha256 for path, file in release.files.items() if TABLES.fullmatch(path)}
    return release.tag, release.content, tables


def _snapshot(api: Any, name: str, commit: str) -> Snapshot:
    from huggingface_hub import RepoFile

    listed = api.list_repo_tree(name, recursive=True, revision=commit, repo_type="dataset")
    files = {
        one.path: (one.size, one.lfs.sha256 if one.lfs else None)
        for one in listed
        if isinstance(one, RepoFile)
    }
    release = None
    if NAME in files:
        data = _fetch(api, name, commit, NAME).read_bytes()
        # Another file of this name is somebody's data; a damaged manifest of ours is told.
        if manifests.ours(data):
            release = manifests.parse(data, f"{name}@{commit[:12]}/{NAME}")
    return Snapshot(commit, files, release)


def _made(api: Any, name: str, mine: ReleaseManifest, head: Snapshot) -> str:
    """Return the first commit that brought this release: others may have committed since."""
    commits = [
        str(one.commit_id)
        for one in api.list_repo_commits(name, repo_type="dataset", revision=head.commit)
        if one.title == title(mine)
    ]
    for commit in [*reversed(commits), head.commit]:
        found = head if commit == head.commit else _snapshot(api, name, commit)
        if same(found.release, mine) and not _damage(api, name, found):
            return commit
    return ""


def _damage(api: Any, name: str, held: Snapshot) -> tuple[str, ...]:
    """Return the files of a release that are not what its manifest says, and tables beside them."""
    assert held.release is not None
    bad = [path for path in held.foreign() if TABLES.fullmatch(path)]
    for path, file in held.release.files.items():
        size, sha256 = held.files.get(path, (-1, None))
        if size == file.bytes and sha256 is None:
            # The Hub lists no SHA-256 of small files, and its own sums need their bytes too.
            sha256 = manifests.file_sha256(_fetch(api, name, held.commit, path))
        if (size, sha256) != (file.bytes, file.sha256):
            bad.append(path)
    return tuple(bad)


def _fetch(api: Any, name: str, commit: str, path: str) -> Path:
    return Path(api.hf_hub_download(name, path, repo_type="dataset", revision=commit))
