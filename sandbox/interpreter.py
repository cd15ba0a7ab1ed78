"""Chooses the interpreter for the inside of a jail, and lists the files it needs there.

A jail runs as an unprivileged outside user, so the interpreter, its standard library and every
folder on the way must be readable by others. A virtual environment whose base lies in a private
home is not; then a system ``python3`` does the work.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox.faults import SandboxFault

OLDEST: Final = (3, 11)
_PROBE_TIMEOUT_S: Final = 30.0

# Run by a candidate: imports the extension modules of its standard library and says what the
# dynamic linker mapped, under the names by which it looked for them.
_PROBE: Final = """
import ctypes, importlib, json, os, sys, sysconfig
skip = ("_tkinter", "readline", "_curses", "_dbm", "_gdbm", "_test", "_ctypes_test", "xx", "_xx",
        "nis", "ossaudiodev", "spwd", "_crypt")
paths = sysconfig.get_paths()
dynload = os.path.join(paths["platstdlib"], "lib-dynload")
for name in sorted(os.listdir(dynload)) if os.path.isdir(dynload) else ():
    if not name.startswith(skip):
        try:
            importlib.import_module(name.partition(".")[0])
        except ImportError:
            pass
class Info(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("name", ctypes.c_char_p)]
names = []
def note(info, size, data):
    names.append(os.fsdecode(ctypes.cast(info, ctypes.POINTER(Info)).contents.name or b""))
    return 0
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
ctypes.CDLL(None).dl_iterate_phdr(kind(note), None)
print(json.dumps({
    "version": sys.version_info[:3],
    "stdlib": sorted({paths["stdlib"], paths["platstdlib"]}),
    "libraries": [name for name in names if name.startswith("/")],
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python for the jail. ``libraries`` are shared objects under the names the linker uses."""

    executable: Path
    version: tuple[int, int, int]
    stdlib: tuple[Path, ...]
    libraries: tuple[Path, ...]


def choose(wanted: str, private: bool = False) -> Interpreter:
    """Return the interpreter to use; ``wanted`` is a path or "" for the best one.

    ``private``: it runs as ourselves, so that only we need to read it. Raises ``SandboxFault`` that
    says what was looked at and why it will not do.
    """
    return _choose(wanted, os.geteuid() == 0 and not private, os.environ.get("PATH", ""))


@functools.lru_cache(maxsize=8)
def _choose(wanted: str, as_root: bool, search: str) -> Interpreter:
    refused = []
    for path in [Path(wanted)] if wanted else _candidates(search):
        try:
            return _inspect(path.resolve(), as_root)
        except _Unfit as reason:
            refused.append(f"{path}: {reason}")
    raise SandboxFault(
        "no interpreter for the jail: "
        + "; ".join(refused or ["no python3 was found"])
        + ". Install a system python3 (3.11 or newer) that every user may read, or name one with "
        "--set sandbox.python=PATH"
    )


class _Unfit(Exception):
    """Why a candidate will not do."""


def _candidates(search: str) -> list[Path]:
    names = [f"python3.{minor}" for minor in (sys.version_info.minor, 13, 12, 11)] + ["python3"]
    own = getattr(sys, "_base_executable", "") or sys.executable
    found = [Path(own)]
    for folders in ("/usr/local/bin:/usr/bin:/bin", search):
        for name in names:
            path = shutil.which(name, path=folders)
            if path:
                found.append(Path(path))
    return list(dict.fromkeys(found))


def _inspect(path: Path, as_root: bool) -> Interpreter:
    if not readable(path, as_root):
        raise _Unfit("not readable for the user that the jail runs as")
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-B", "-c", _PROBE],
            capture_output=True,
            timeout=_PROBE_TIMEOUT_S,
            env={},
            cwd="/",
            check=False,
        )
        facts = json.loads(done.stdout)
        version = tuple(facts["version"])
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError, TypeError) as error:
        raise _Unfit(f"does not run ({type(error).__name__})") from None
    if version < OLDEST:
        raise _Unfit(f"is {'.'.join(map(str, version))}, older than 3.11")
    stdlib = tuple(Path(folder) for folder in facts["stdlib"])
    libraries = tuple(
        Path(name)
        for name in facts["libraries"]
        if not any(Path(name).is_relative_to(folder) for folder in stdlib) and Path(name) != path
    )
    for needed in (*stdlib, *libraries):
        if not readable(needed, as_root):
            raise _Unfit(f"its {needed} is not readable for the user that the jail runs as")
    return Interpreter(path, version, stdlib, libraries)


def readable(path: Path, as_root: bool) -> bool:
    """Whether the jail's outside user may read ``path``: others if we are root, else ourselves."""
    try:
        real = path.resolve(strict=True)
        if not as_root:
            return os.access(real, os.R_OK)
        return bool(real.stat().st_mode & 0o004) and all(
            folder.stat().st_mode & 0o001 for folder in real.parents
        )
    except OSError:
        return False
