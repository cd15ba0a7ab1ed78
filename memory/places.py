"""Where a store lies: a folder of this machine or an address in object storage, with one set of verbs.

A file is there whole or not at all. A folder's files are written with `publish`: on this machine
the folder is renamed into place; object storage has no rename, there the last file is what makes
the folder count, so a reader looks for that one. Keys and region of object storage come from the
environment (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``, ``AWS_ENDPOINT_URL``,
...), for our own files (obstore) and for the tables (LanceDB) alike.
"""

import datetime as dt
import fcntl
import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from memory.faults import explain
from spadekit.errors import BadInput
from spadekit.files import LEFT_OVER_S, folder_atomic, sync, write_atomic

Answer = TypeVar("Answer")
SCHEMES = ("s3", "gs", "az")


class Place(ABC):
    """A file or folder of a store. Missing files raise ``FileNotFoundError``, others ``BadInput``."""

    remote: bool

    @abstractmethod
    def __truediv__(self, name: str) -> "Place":
        """Return the place ``name`` below this one."""

    @abstractmethod
    def __str__(self) -> str:
        """The address for people and for LanceDB: an absolute path or a URI."""

    @property
    def name(self) -> str:
        """The last part of the address."""
        return PurePosixPath(str(self)).name

    @property
    def real(self) -> str:
        """The address with links followed: the same for every name of one place."""
        return str(self)

    @abstractmethod
    def read(self) -> bytes:
        """Return the bytes of this file."""

    @abstractmethod
    def exists(self) -> bool:
        """Say whether this is a file that is there."""

    @abstractmethod
    def create(self, data: bytes) -> bool:
        """Write this file at once and for good; False when there is one already."""

    @abstractmethod
    def replace(self, data: bytes) -> None:
        """Write this file at once, whatever was there."""

    @abstractmethod
    def publish(self, files: Mapping[str, bytes]) -> bool:
        """Write this folder for good; False when it is there already. The last file is the mark."""

    @abstractmethod
    def remove(self) -> None:
        """Remove this file, or this folder and all in it; nothing there is fine."""

    @abstractmethod
    def files(self) -> dict[str, int]:
        """Return every file below, relative name and bytes, in order; {} for no such folder."""

    def names(self) -> list[str]:
        """Return the names of the files directly below, in order."""
        return [name for name in self.files() if "/" not in name]

    @abstractmethod
    def folders(self) -> list[str]:
        """Return the names of the folders directly below, in order."""

    @abstractmethod
    def empty(self) -> bool:
        """Say whether no file or folder lies directly below."""

    @abstractmethod
    def lock(self) -> Any:
        """Return a context that one process at a time is in; free of effect in object storage."""


class Folder(Place):
    """A place on this machine; what is written is on the disk when a verb returns."""

    remote = False

    def __init__(self, path: Path) -> None:
        self.path = path

    def __truediv__(self, name: str) -> "Folder":
        return Folder(self.path / name)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def real(self) -> str:
        return os.path.realpath(self.path)

    def read(self) -> bytes:
        return self.path.read_bytes()

    def exists(self) -> bool:
        return self.path.is_file()

    def create(self, data: bytes) -> bool:
        if self.path.exists():
            return False
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.path.parent, prefix=".new.") as aside:
            aside.write(data)
            aside.flush()
            os.fchmod(aside.fileno(), 0o644)
            os.fsync(aside.fileno())
            try:
                self.path.hardlink_to(aside.name)  # unlike a rename it never replaces
            except FileExistsError:
                return False
        sync(self.path.parent)
        return True

    def replace(self, data: bytes) -> None:
        write_atomic(self.path, data)

    def publish(self, files: Mapping[str, bytes]) -> bool:
        if self.path.is_dir() and self.empty():
            self.path.rmdir()  # somebody made an empty folder here; it holds nothing
        try:
            with folder_atomic(self.path) as aside:
                for name, data in files.items():
                    (aside / name).write_bytes(data)
        except OSError:
            if not self.path.exists():
                raise
            return False
        return True

    def remove(self) -> None:
        if self.path.is_dir():
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self.path.unlink(missing_ok=True)

    def files(self) -> dict[str, int]:
        found = {}
        for path in sorted(self.path.rglob("*")):
            relative = path.relative_to(self.path)
            # What has a dot in front was being written when its writer was killed.
            if not any(part.startswith(".") for part in relative.parts):
                try:
                    if path.is_file():
                        found[relative.as_posix()] = path.stat().st_size
                except FileNotFoundError:
                    continue
        return found

    def names(self) -> list[str]:
        # Every search looks for new logs, of which there may be thousands: no size, no second look.
        if not self.path.is_dir():
            return []
        with os.scandir(self.path) as entries:
            return sorted(one.name for one in entries if one.is_file() and one.name[0] != ".")

    def folders(self) -> list[str]:
        if not self.path.is_dir():
            return []
        with os.scandir(self.path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())

    def empty(self) -> bool:
        return not self.path.is_dir() or not any(self.path.iterdir())

    @contextmanager
    def lock(self) -> Iterator[None]:
        with self.path.open("ab") as handle:  # the kernel lets go when the process ends
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


class Bucket(Place):
    """A place in object storage; ``create`` is a conditional write, so one of several wins."""

    remote = True

    def __init__(self, uri: str, store: Any = None, key: str = "") -> None:
        self.uri = uri.rstrip("/")
        self._key = key
        self._store = store if store is not None else _connect(self.uri)

    def __truediv__(self, name: str) -> "Bucket":
        key = f"{self._key}/{name}" if self._key else name
        return Bucket(f"{self.uri}/{name}", self._store, key)

    def __str__(self) -> str:
        return self.uri

    def read(self) -> bytes:
        import obstore

        return self._do(lambda: bytes(obstore.get(self._store, self._key).bytes()))

    def exists(self) -> bool:
        import obstore

        try:
            self._do(lambda: obstore.head(self._store, self._key))
        except FileNotFoundError:
            return False
        return True

    def create(self, data: bytes) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError

        def put() -> bool:
            try:
                obstore.put(self._store, self._key, data, mode="create")
            except AlreadyExistsError:
                return False
            return True

        return self._do(put)

    def replace(self, data: bytes) -> None:
        import obstore

        self._do(lambda: obstore.put(self._store, self._key, data))

    def publish(self, files: Mapping[str, bytes]) -> bool:
        *members, mark = files
        if (self / mark).exists():
            return False
        for name in members:
            self._member(self / name, files[name])
        return (self / mark).create(files[mark])

    @staticmethod
    def _member(place: "Bucket", data: bytes) -> None:
        """Write one file that does not count before its folder's mark stands.

        The same bytes may lie there from a publication that was interrupted; other bytes are
        another writer's, unless they are so old that it must have died.
        """
        import obstore

        if place.create(data) or place.read() == data:
            return
        made = obstore.head(place._store, place._key)["last_modified"]
        if (dt.datetime.now(dt.UTC) - made).total_seconds() < LEFT_OVER_S:
            raise BadInput(
                f"{place}: another process is publishing this or was interrupted there; wait for "
                "it, publish under the next number, or try again in an hour"
            )
        place.replace(data)

    def remove(self) -> None:
        import obstore

        paths = [f"{self._key}/{name}" for name in self.files()]
        if self.exists():
            paths.append(self._key)
        for start in range(0, len(paths), 500):
            part = paths[start : start + 500]
            self._do(lambda part=part: obstore.delete(self._store, part))  # type: ignore[misc]

    def files(self) -> dict[str, int]:
        import obstore

        prefix = f"{self._key}/" if self._key else None
        skip = len(prefix or "")

        def listed() -> dict[str, int]:
            chunks = obstore.list(self._store, prefix)
            return {one["path"][skip:]: one["size"] for chunk in chunks for one in chunk}

        return dict(sorted(self._do(listed).items()))

    def folders(self) -> list[str]:
        import obstore

        prefix = f"{self._key}/" if self._key else None
        found = self._do(lambda: obstore.list_with_delimiter(self._store, prefix))
        return sorted(PurePosixPath(one).name for one in found["common_prefixes"])

    def empty(self) -> bool:
        return not self.files()

    @contextmanager
    def lock(self) -> Iterator[None]:
        yield

    def _do(self, call: Callable[[], Answer]) -> Answer:
        from obstore.exceptions import BaseError

        try:
            return call()
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise BadInput(explain(error, self.uri)) from None
            raise FileNotFoundError(f"{self.uri} is not there") from None
        except (BaseError, OSError) as error:
            raise BadInput(explain(error, self.uri)) from None


def place_of(address: Path | str) -> Place:
    """Return the place of a folder's path or an ``s3://``, ``gs://`` or ``az://`` address."""
    text = str(address)
    scheme, colon, rest = text.partition("://")
    if not (rest if scheme == "file" else text).strip():
        raise BadInput(f"{text!r} names no place for a store; give a folder's path")
    if not colon:
        return Folder(Path(address).absolute())
    if scheme == "file":
        return Folder(Path(rest).absolute())
    if scheme not in SCHEMES or not rest.strip("/"):
        known = ", ".join(f"{one}://bucket/folder" for one in SCHEMES)
        raise BadInput(f"{text!r} is no place for a store; give a folder's path, {known}")
    return Bucket(text)


def names(folder: Place, suffix: str) -> Sequence[str]:
    """Return the files directly in a folder that end in ``suffix``, in order."""
    return [name for name in folder.names() if name.endswith(suffix)]


def _connect(uri: str) -> Any:
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    try:
        return from_url(
            uri,
            retry_config={"max_retries": 3, "retry_timeout": dt.timedelta(seconds=30)},
        )
    except (BaseError, ValueError, OSError) as error:
        raise BadInput(explain(error, uri)) from None
