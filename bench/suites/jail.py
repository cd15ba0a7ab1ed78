"""Grading inside the sandbox: a request goes into a jail, an answer comes out as data.

Two of the public graders ``eval`` what a model wrote and one benchmark runs it. So no grader is
imported here: a program of ``bench.suites.inside`` runs in a jail, which for these programs also has
the packages that they import, read-only. Every request opens an episode, a forked process of its own,
so that nothing that one reply does can touch the mark of another.
"""

import asyncio
import ctypes
import importlib
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sandbox import EnvironmentFault, Episode, Jail, SandboxConfig
from sandbox.config import LARGEST_FRAME
from sandbox.launch import Launcher
from spadekit.errors import OurFault

PART = 12_000
"""Characters sent or fetched at once: in a frame a character may take up to 14 bytes."""
LONGEST = 2**22
"""Most characters of an answer; a longer one is a fault of the reply's."""
RUNTIME = ("libstdc++.", "libgcc_s.", "libpthread.", "libdl.", "librt.", "libutil.", "libm.")
"""Shared objects that compiled packages take from the system."""
LOAD_S = 60.0
"""Importing a grader's packages on a busy machine."""


class Unavailable(Exception):
    """A suite cannot be run here; the message says why and how to get it."""


@dataclass(frozen=True)
class Program:
    """A program for the jail.

    ``name``: its file in ``bench.suites.inside``. ``folders``: mounted read-only under their own
    names. ``paths``: what ``sys.path`` gets. ``libraries``: shared objects that compiled packages need.
    ``seconds``: for one request; ``memory_mb``: on top of the interpreter.
    """

    name: str
    folders: tuple[Path, ...] = ()
    paths: tuple[Path, ...] = ()
    libraries: tuple[Path, ...] = ()
    seconds: float = 30.0
    memory_mb: int = 512

    def source(self) -> str:
        """Return what the jail runs."""
        inside = files("bench.suites.inside")
        texts = [(inside / name).read_text(encoding="utf-8") for name in (self.name, "desk.py")]
        first = f"import sys\nsys.path += {[str(path) for path in self.paths]!r}\n"
        return "\n".join([first, *texts])


class Jails:
    """The jails of a run, opened when first asked for. An async context manager."""

    def __init__(self, config: SandboxConfig, most: int) -> None:
        self._config = config
        self._free = asyncio.Semaphore(most)
        self._open: dict[Program, tuple[Launcher, Jail]] = {}
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> "Jails":
        return self

    async def __aexit__(self, *_: object) -> None:
        for launcher, jail in self._open.values():
            await jail.close()
            launcher.discard()
        self._open.clear()

    async def ask(self, program: Program, request: Mapping[str, Any]) -> Any:
        """Answer one request in a process of its own; see :meth:`Desk.ask`."""
        async with self.desk(program) as desk:
            return await desk.ask(request)

    @asynccontextmanager
    async def desk(self, program: Program) -> AsyncIterator["Desk"]:
        """Open a process that answers several requests and remembers between them."""
        async with self._free:
            jail = await self._jail(program)
            async with await jail.episode(0) as episode:
                yield Desk(episode)

    async def _jail(self, program: Program) -> Jail:
        async with self._opening:
            held = self._open.get(program)
            if held is not None and held[1].alive:
                return held[1]
            if held is not None:
                del self._open[program]
                await held[1].close()
                held[0].discard()
            try:
                self._open[program] = await _start(program, self._config)
            except EnvironmentFault as fault:
                raise OurFault(f"{program.name} does not start in the jail: {fault}") from None
            return self._open[program][1]


class Desk:
    """One process of a jail that answers requests in turn."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode

    async def ask(self, request: Mapping[str, Any]) -> Any:
        """Return the program's answer.

        Raises ``EnvironmentFault`` when the program breaks or outlives its limits, or answers with
        what is no JSON: a grader that a reply has brought down.
        """
        text = json.dumps(request)
        for start in range(0, len(text), PART):
            await self._episode.step("+" + text[start : start + PART])
        size = await self._say("=")
        if not size.isascii() or not size.isdecimal() or len(size) > 9 or int(size) > LONGEST:
            raise EnvironmentFault("step", "oversize", "the answer is too long")
        parts = [await self._say(f"?{start}") for start in range(0, int(size), PART)]
        try:
            return json.loads("".join(parts), parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise EnvironmentFault("step", "contract", "the answer is not JSON") from None

    async def _say(self, action: str) -> str:
        return (await self._episode.step(action)).observation[0].content


def package_folders(*names: str) -> tuple[Path, ...]:
    """Return where installed packages lie, without importing them. Raises ``Unavailable``."""
    found = []
    for name in names:
        spec = find_spec(name)
        place = spec.origin if spec is not None else None
        if place is None:
            raise Unavailable(f"the package {name} is not installed")
        path = Path(place)
        found.append(path.parent if path.name == "__init__.py" else path)
    return tuple(found)


async def _start(program: Program, config: SandboxConfig) -> tuple[Launcher, Jail]:
    roomy = replace(
        config,
        load_s=LOAD_S,
        reset_s=LOAD_S,
        step_s=program.seconds,
        episode_s=86_400.0,
        memory_mb=program.memory_mb,
        jail_memory_mb=max(config.jail_memory_mb, 4 * program.memory_mb),
        frame_bytes=LARGEST_FRAME,
        max_source_bytes=LARGEST_FRAME,
    )
    launcher = await asyncio.to_thread(Launcher.prepare, roomy)
    try:
        # More of the host's files than any environment sees: mounted like the standard library.
        python = launcher.python
        launcher = replace(
            launcher,
            python=replace(
                python,
                stdlib=(*python.stdlib, *program.folders),
                libraries=(*python.libraries, *program.libraries),
            ),
        )
        if program.libraries and python.version[:2] != sys.version_info[:2]:
            found, needed = (".".join(map(str, v[:2])) for v in (python.version, sys.version_info))
            raise Unavailable(
                f"its grader has compiled parts for Python {needed} and the jail's interpreter is "
                f"{found}; name a Python {needed} that every user may read with sandbox.python"
            )
        jail = await Jail.start(launcher, 0)
        await jail.load(program.source().encode())
    except BaseException:
        launcher.discard()
        raise
    return launcher, jail


def libraries_of(module: str) -> tuple[Path, ...]:
    """Return the system's shared objects that a compiled package needs, as the linker names them.

    The package is imported here to see what is mapped: only for packages that we depend on anyway.
    """
    importlib.import_module(module)
    names: list[str] = []

    class Info(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("name", ctypes.c_char_p)]

    def note(info: Any, size: int, data: Any) -> int:
        names.append(os.fsdecode(ctypes.cast(info, ctypes.POINTER(Info)).contents.name or b""))
        return 0

    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    ctypes.CDLL(None).dl_iterate_phdr(kind(note), None)
    return tuple(
        Path(name)
        for name in sorted(set(names))
        if Path(name).name.startswith(RUNTIME) and not Path(name).is_relative_to(sys.prefix)
    )


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
