"""Files that are either wholly there or not there, also after a power cut."""

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from spadekit.errors import BadInput

LEFT_OVER_S = 3600.0
"""After this long a temporary file or folder beside its target is what a kill left behind."""
PART = ".spadework-part"
"""How the names of folders end that are being filled: nothing else is ever swept."""
SOON_S = 0.2
"""How long a lock is waited for whose holder may be as good as gone."""


def sync(path: Path) -> None:
    """Flush a file or a folder entry to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomic(path: Path, data: bytes) -> None:
    """Write ``data`` beside ``path``, sync it, and rename it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            # Made private by mkstemp; in a shared store others must be able to read it.
            os.fchmod(out.fileno(), 0o644)
            os.fsync(out.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync(path.parent)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object atomically, keys in the order given."""
    write_atomic(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())


@contextmanager
def folder_atomic(path: Path) -> Iterator[Path]:
    """Give a temporary folder that becomes ``path`` when the block ends well.

    Everything in it is synced before the rename. A folder already at ``path`` makes the rename fail
    with ``FileExistsError``: published folders are never replaced.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".*{PART}"):
        with suppress(FileNotFoundError):  # another process has just renamed its own into place
            if time.time() - left.stat().st_mtime > LEFT_OVER_S:
                shutil.rmtree(left, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=PART))
    try:
        yield aside
        aside.chmod(0o755)
        for entry in sorted(aside.rglob("*")):
            sync(entry)
        sync(aside)
        if path.exists():
            raise FileExistsError(f"{path} is already there")
        aside.rename(path)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    sync(path.parent)


@contextmanager
def exclusive(path: Path, busy: str) -> Iterator[None]:
    """Hold a lock file for the block; raises ``BadInput(busy)`` when another process holds it.

    The kernel lets go when the process ends, however it ends. One that is being asked about
    (``is_held``) or is just ending is waited for, ``SOON_S`` at most.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("ab")
    except OSError as error:
        raise BadInput(f"{path.parent} cannot be written: {error.strerror or error}") from None
    with handle:
        end = time.monotonic() + SOON_S
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise BadInput(busy) from None
            time.sleep(SOON_S / 10)
        yield


def is_held(path: Path) -> bool:
    """Whether somebody is in the ``exclusive`` block of a lock file."""
    try:
        handle = path.open("rb")
    except OSError:
        return False
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


Check = Callable[[int, dict[str, Any]], object]
"""Looks at a journal's line (its number from 1, its entry); raises ``KeyError``, ``TypeError`` or
``ValueError`` where its reader could not use it."""


class Journal:
    """An append-only JSONL file whose lines survive a kill; a torn last line is dropped on opening.

    ``check`` sees every line that is there. Raises ``BadInput``, with file and line, for one that is no
    JSON object or does not pass, before anything is done with the others.
    """

    def __init__(self, path: Path, check: Check | None = None) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.entries: list[dict[str, Any]] = []
        kept = 0
        if path.exists():
            for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
                if not line.endswith(b"\n"):
                    break
                self.entries.append(_entry(path, number, line, check))
                kept += len(line)
        self._out = path.open("ab")
        self._out.truncate(kept)

    def append(self, entry: Mapping[str, Any]) -> None:
        """Append one entry; it is in the kernel's hands when this returns, on the disk after ``sync``."""
        self._out.write(json.dumps(entry, allow_nan=False).encode() + b"\n")
        self._out.flush()
        self.entries.append(dict(entry))

    def sync(self) -> None:
        """Make everything appended so far survive a power cut."""
        os.fsync(self._out.fileno())

    def close(self) -> None:
        """Sync and close."""
        self.sync()
        self._out.close()


def expect(entry: Mapping[str, Any], **kinds: type) -> None:
    """Raise ``KeyError`` or ``TypeError`` unless an entry has these keys, with values of these types."""
    for name, kind in kinds.items():
        if not isinstance(entry[name], kind):
            raise TypeError(f"`{name}` is no {kind.__name__}")


def _entry(path: Path, number: int, line: bytes, check: Check | None) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        told = f"is not JSON ({error})"
    else:
        try:
            if not isinstance(entry, dict):
                raise TypeError("no object")
            if check is not None:
                check(number, entry)
            return entry
        except KeyError as error:
            told = f"is damaged (without {error})"
        except (TypeError, ValueError) as error:
            told = f"is damaged ({error})"
    raise BadInput(f"{path}: line {number} {told}; move the file away to begin again")
