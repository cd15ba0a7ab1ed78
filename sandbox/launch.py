"""Starts and ends the outside process of a jail: everything that touches processes and folders."""

import asyncio
import contextlib
import fcntl
import functools
import os
import py_compile
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox import cgroups, interpreter, nsjail, process
from sandbox.cgroups import Cgroups
from sandbox.config import SandboxConfig
from sandbox.faults import SandboxFault
from sandbox.interpreter import Interpreter

_TERM_GRACE_S: Final = 1.0
_PROGRAMS: Final = ("guest.py", "envkit.py", "reference.py")
_PREFIX: Final = "spadework-jail-"
_STALE_S: Final = 60.0


@dataclass(frozen=True)
class Launcher:
    """Everything that the jails of one sandbox have in common."""

    config: SandboxConfig
    python: Interpreter
    programs: Path
    claim: int
    groups: Cgroups
    binary: Path | None

    @staticmethod
    def prepare(config: SandboxConfig) -> "Launcher":
        """Choose the interpreter, find nsjail and control groups; raises ``SandboxFault``."""
        if not sys.platform.startswith("linux"):
            raise SandboxFault("the sandbox needs Linux; run it in a Linux container or machine")
        if config.isolation == "nsjail":
            binary = nsjail.find()
            python = interpreter.choose(config.python)
            _make_resident(python)
            return Launcher(config, python, *_lay_out(python), cgroups.find(), binary)
        python = interpreter.choose(config.python or sys.executable, private=True)
        return Launcher(config, python, *_lay_out(python), cgroups.NONE, None)

    def discard(self) -> None:
        """Remove the folder of in-jail programs."""
        shutil.rmtree(self.programs, ignore_errors=True)
        os.close(self.claim)

    def start(self, control: socket.socket, hash_seed: int) -> "Outside":
        """Start one jail whose guest talks on ``control``; it stays open here."""
        number = control.fileno()
        environment: dict[str, str] = {}
        if self.binary is not None:
            command = nsjail.argv(
                self.binary, self.python, self.programs, self.config, self.groups, hash_seed, number
            )
        else:
            command = process.argv(self.python, number)
            environment = process.environment(self.programs, hash_seed)
        talk, talk_in = os.pipe()
        try:
            running = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=talk_in,
                stderr=talk_in,
                pass_fds=(number,),
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            os.close(talk)
            raise SandboxFault(f"{command[0]} cannot be started: {error.strerror}") from None
        finally:
            os.close(talk_in)
        os.set_blocking(talk, False)
        return Outside(running, talk, self.groups, self.binary is not None)


class Outside:
    """One jail's outside process. It must be ended by ``end``, whatever else happens."""

    def __init__(
        self, running: "subprocess.Popen[bytes]", talk: int, groups: Cgroups, jailed: bool
    ) -> None:
        self._running = running
        self._talk = talk
        self._groups = groups
        self._jailed = jailed
        self.guest = 0

    @property
    def pid(self) -> int:
        """The process id of nsjail, or of the guest itself when it runs without a jail."""
        return self._running.pid

    def find_guest(self) -> None:
        """Learn the guest's process id outside the jail, which names the jail's control groups."""
        if self._jailed:
            found = _children(self.pid)
            self.guest = found[0] if found else 0

    def strike(self, inside: int) -> None:
        """Kill the guest's child whose process id is ``inside`` within the jail.

        By a descriptor of the process, so that a recycled id cannot hit a stranger. Raises
        ``SandboxFault`` when the host does not let us.
        """
        if not self.guest:
            raise SandboxFault("the host does not see the processes of its own jail")
        for pid in _children(self.guest):
            with contextlib.suppress(ProcessLookupError):
                handle = os.pidfd_open(pid)
                try:
                    if _parent_and_inner(pid) == (self.guest, inside):
                        signal.pidfd_send_signal(handle, signal.SIGKILL)
                        return
                except PermissionError:
                    raise SandboxFault("the host may not end a process of its own jail") from None
                finally:
                    os.close(handle)

    def said(self) -> str:
        """Return what nsjail or the guest wrote to stderr: why a start failed."""
        if self._talk < 0:
            return ""
        with contextlib.suppress(OSError):
            lines = os.read(self._talk, 65_536).decode("utf-8", "replace").strip().splitlines()
            return " | ".join(lines[-3:])[-300:]
        return ""

    def memory_kills(self) -> int:
        """Return how many processes inside were killed for memory, as far as the host can tell."""
        return cgroups.memory_kills(self._groups, self.guest) if self.guest else 0

    def peak_memory(self) -> int:
        """Return the most resident memory, in bytes, that an episode alive now has ever had.

        The kernel's own figure (VmHWM), with the interpreter's pages; 0 where the host hides it.
        """
        guest = self.guest if self._jailed else self.pid
        return max(map(_peak, _children(guest)), default=0) if guest else 0

    async def end(self) -> None:
        """SIGTERM, SIGKILL, reap, remove control groups; the control socket is closed before."""
        if not self._jailed:
            # Without a namespace only the guest knows its episodes: it ends them, then itself.
            await self._gone(_TERM_GRACE_S)
        for strike in (self._running.terminate, self._running.kill):
            if self._running.poll() is None:
                strike()
                await self._gone(_TERM_GRACE_S)
        # A process killed in the kernel's uninterruptible sleep may take longer than the grace.
        while self._running.poll() is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        for _ in range(50):
            if not self.guest or not cgroups.folders(self._groups, self.guest):
                break
            cgroups.remove(self._groups, self.guest)
            await asyncio.sleep(0.002)
        if self._talk >= 0:
            os.close(self._talk)
            self._talk = -1

    async def _gone(self, limit_s: float) -> None:
        loop = asyncio.get_running_loop()
        until, pause = loop.time() + limit_s, 0.001
        while self._running.poll() is None and loop.time() < until:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.02)


def _children(pid: int) -> list[int]:
    """Return the process ids of a process's children, oldest first; none if it is gone."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        # Gone, or a kernel without this file.
        everyone = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]  # noqa: PTH208
        return sorted(one for one in everyone if _parent_and_inner(one)[0] == pid)
    except OSError:
        return []


def _peak(pid: int) -> int:
    """Return a process's highest resident set in bytes, 0 if it is gone or hidden."""
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return 0
    found = re.search(rb"^VmHWM:\s*([0-9]+) kB", status, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def _parent_and_inner(pid: int) -> tuple[int, int]:
    """Return a process's parent, and its own id in its innermost namespace; zeros if gone."""
    try:
        # As bytes: a process may give itself any name.
        lines = Path(f"/proc/{pid}/status").read_bytes().split(b"\n")
    except OSError:
        return 0, 0
    facts = {line.partition(b":")[0]: line.partition(b":")[2].split() for line in lines}
    return int(facts[b"PPid"][0]), int(facts.get(b"NSpid", [b"0"])[-1])


def _lay_out(python: Interpreter) -> tuple[Path, int]:
    """Copy the in-jail programs to a folder that the jail's user may read, compiled if we can.

    Returns the folder and a descriptor whose lock tells others that it is in use.
    """
    temporary = _readable_temporary()
    _sweep(temporary)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=temporary))
    claim = os.open(folder, os.O_RDONLY)
    fcntl.flock(claim, fcntl.LOCK_SH)
    folder.chmod(0o755)
    for name in _PROGRAMS:
        target = folder / name
        shutil.copyfile(Path(__file__).with_name(name), target)
        target.chmod(0o644)
        if python.version[:2] == sys.version_info[:2]:
            py_compile.compile(
                str(target), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
            )
    return folder, claim


def _make_resident(python: Interpreter) -> None:
    """Read every file that jails will have, so that none of their pages is cold.

    Otherwise reading a page would leave a mark that any later jail could see: it has become fast.
    Read by us the pages are also ours, and no jail's memory control group can push them out.
    """
    room = memoryview(bytearray(1 << 20))
    folders = (
        Path(base) / name
        for top in python.stdlib
        for base, _, names in os.walk(top)
        for name in names
    )
    for path in (python.executable, *python.libraries, *folders):
        with contextlib.suppress(OSError), path.open("rb", buffering=0) as file:
            while file.readinto(room):
                pass


def _sweep(temporary: Path) -> None:
    """Remove folders whose owner was killed: old ones of ours that nobody holds a lock on."""
    for folder in temporary.glob(_PREFIX + "*"):
        with contextlib.suppress(OSError):
            facts = folder.lstat()
            if facts.st_uid != os.geteuid() or time.time() - facts.st_mtime < _STALE_S:
                continue
            claim = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(claim)


@functools.cache
def _readable_temporary() -> Path:
    for path in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):
        if interpreter.readable(path, os.geteuid() == 0) and os.access(path, os.W_OK):
            return path
    raise SandboxFault("no temporary folder is readable for the jail's user; set TMPDIR to one")
