"""Finds what control groups the host lets us use, makes the parent folders, and removes left-overs.

A jail without them still has its rlimits; ``doctor`` says which layer is missing.
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

ROOT: Final = Path("/sys/fs/cgroup")
CONTROLLERS: Final = ("memory", "pids", "cpu")
PARENT: Final = "spadework"

# All jails together weigh as much as one process unless told otherwise, and starve on a busy host.
_WEIGHT: Final = {"cpu.shares": str(16 * 1024), "cpu.weight": str(16 * 100)}


@dataclass(frozen=True)
class Cgroups:
    """What is available: the version, the controllers, and the folder that holds the jails' own."""

    version: Literal[0, 1, 2]
    controllers: tuple[str, ...]
    parents: tuple[Path, ...]
    why_not: str


NONE: Final = Cgroups(0, (), (), "not asked for")


def find(root: Path = ROOT, own: Path = Path("/proc/self/cgroup")) -> Cgroups:
    """Return the control groups that this process may make jails' folders in.

    ``own`` tells the groups that this process is in; what a user may write lies near them.
    """
    if (root / "cgroup.controllers").exists():
        return _find_v2(root, own)
    usable, parents, why = [], [], ""
    for name in CONTROLLERS:
        if not (root / name / "tasks").exists():
            why = why or f"no {name} controller under {root}"
            continue
        parent = root / name / PARENT
        try:
            parent.mkdir(exist_ok=True)
        except OSError as error:
            why = why or f"{parent} cannot be made ({error.strerror})"
            continue
        if os.access(parent, os.W_OK):
            usable.append(name)
            parents.append(parent)
        else:
            why = why or f"{parent} is not writable for this user"
    _weigh(parents)
    return Cgroups(1 if usable else 0, tuple(usable), tuple(parents), why)


def _find_v2(root: Path, own: Path) -> Cgroups:
    why = ""
    for place in _places_v2(root, own):
        parent = place / PARENT
        try:
            parent.mkdir(exist_ok=True)
            offered = (parent / "cgroup.controllers").read_text().split()
            usable = [name for name in CONTROLLERS if name in offered]
            (parent / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in usable))
        except OSError as error:
            why = why or f"{parent} cannot be used ({error.strerror}): no delegation"
            continue
        if usable:
            _weigh([parent])
            missing = ", ".join(name for name in CONTROLLERS if name not in usable)
            lacks = f"{parent} offers no {missing}" if missing else ""
            return Cgroups(2, tuple(usable), (parent,), lacks)
        why = why or f"{parent} offers none of {', '.join(CONTROLLERS)}"
    return Cgroups(0, (), (), why)


def _places_v2(root: Path, own: Path) -> list[Path]:
    """The root, and the groups above our own: a user's session delegates one of those.

    Not our own: one that holds processes cannot hand its controllers on.
    """
    places = [root]
    with contextlib.suppress(OSError):
        for line in own.read_text().splitlines():
            if line.startswith("0::/"):
                above = (root / line.removeprefix("0::/")).parents
                places += [place for place in above if place != root and root in place.parents]
    return places


def _weigh(parents: list[Path]) -> None:
    for parent in parents:
        for name, weight in _WEIGHT.items():
            with contextlib.suppress(OSError):
                if (parent / name).exists():
                    (parent / name).write_text(weight)


def folders(groups: Cgroups, guest: int) -> list[Path]:
    """Return the folders of the jail whose first process has the outside process id ``guest``."""
    paths = [parent / f"NSJAIL.{guest}" for parent in groups.parents]
    return [path for path in paths if path.is_dir()]


def remove(groups: Cgroups, guest: int) -> None:
    """Remove what a killed nsjail left; folders go once their last process is reaped."""
    for folder in folders(groups, guest):
        with contextlib.suppress(OSError):
            folder.rmdir()


def memory_kills(groups: Cgroups, guest: int) -> int:
    """Return how many processes of a jail the kernel has killed for memory, 0 where unknown."""
    name = "memory.events" if groups.version == 2 else "memory.oom_control"
    for folder in folders(groups, guest):
        with contextlib.suppress(OSError):
            for line in (folder / name).read_text().splitlines():
                key, _, value = line.partition(" ")
                if key == "oom_kill":
                    return int(value)
    return 0
