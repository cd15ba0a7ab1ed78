"""Runs the command line in processes of their own that need not import everything again.

A server, this file run as a program, imports the libraries once and forks for each command, so a command
that is killed again and again costs its work and not its start. What is started as
``PYTHON -m spadework ...`` or ``PYTHON FILE.py ...`` costs no start either where the `launcher` is the Python.
"""

import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

LIBRARIES = (
    *("envgen.loop", "envgen.workspace", "solver.engines.local", "solver.trainer", "lancedb"),
    *(
        "sentence_transformers",
        "transformers.models.llama.modeling_llama",
        "transformers.generation",
    ),
    *("transformers.models.auto.tokenization_auto", "transformers.models.auto.modeling_auto"),
)
"""What commands bring in sooner or later, named because some of it is brought in lazily."""
ROOT = Path(__file__).parents[1]
LAUNCHER = """#!{python} -IS
import json, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    socket.send_fds(line, [json.dumps(sys.argv[1:]).encode()], [1, 2])
    sys.exit(int(line.recv(16)))
"""


@dataclass(frozen=True)
class Command:
    """One command at work; its stdout and stderr go to files."""

    zygote: "Zygote"
    pid: int
    out: Path
    err: Path

    @property
    def alive(self) -> bool:
        """Whether it is still at work."""
        return self.zygote.ask(poll=self.pid) is None

    def wait(self) -> int:
        """Wait for its end and return the exit code."""
        return int(self.zygote.ask(wait=self.pid))

    def kill(self) -> None:
        """End it and its children as a power cut would."""
        os.killpg(self.pid, signal.SIGKILL)
        self.wait()


class Zygote:
    """The server's client: `spadework` starts commands, from the root of the project."""

    def __init__(self, server: "subprocess.Popen[str]", folder: Path) -> None:
        self._server, self._folder, self._count = server, folder, 0

    def spadework(self, *arguments: str) -> Command:
        """Start a command."""
        return self._start(["spadework", *arguments])

    def python(self, code: str) -> Command:
        """Start a program, as ``python FILE.py`` would."""
        path = self._folder / f"{self._count + 1}.py"
        path.write_text(code)
        return self._start([str(path)])

    def launcher(self) -> Path:
        """Return a Python for ``-m spadework`` and for files; what it starts ends with it.

        It takes no standard input, and runs in the root of the project with the server's environment.
        """
        path = self._folder / "python"
        if not path.exists():
            self.python("").wait()  # now it listens
            address = _address(self._server.pid)
            path.write_text(LAUNCHER.format(python=sys.executable, address=address))
            path.chmod(0o755)
        return path

    def _start(self, argv: list[str]) -> Command:
        self._count += 1
        out, err = (self._folder / f"{self._count}.{name}" for name in ("out", "err"))
        pid = self.ask(start=argv, out=str(out), err=str(err))
        return Command(self, pid, out, err)

    def ask(self, **request: Any) -> Any:
        """Send a request and return the answer."""
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())


@contextmanager
def zygote(folder: Path) -> Iterator[Zygote]:
    """Serve commands while the block runs; their output goes to ``folder``."""
    server = subprocess.Popen(
        [sys.executable, "-P", __file__],  # without this folder on its path: it has a `memory` too
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        yield Zygote(server, folder)
    finally:
        server.communicate()


def _address(pid: int) -> str:
    return f"\0spadework-zygote-{pid}"


def _serve() -> None:
    for module in LIBRARIES:
        import_module(module)
    import_module("spadework")
    ended: dict[int, int] = {}
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as waiting:
        listener.bind(_address(os.getpid()))
        listener.listen()
        waiting.register(listener, selectors.EVENT_READ)
        waiting.register(sys.stdin, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is listener:
                    _launched(listener.accept()[0])
                elif line := sys.stdin.readline():
                    sys.stdout.write(json.dumps(_answer(json.loads(line), ended)) + "\n")
                    sys.stdout.flush()
                else:
                    return


def _answer(request: Any, ended: dict[int, int]) -> int | None:
    if "start" in request:
        if pid := os.fork():
            return pid
        os.setsid()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        _become(*(os.open(request[name], flags) for name in ("out", "err")))
        _run(request["start"])
    pid, options = request.get("wait"), 0
    if pid is None:
        pid, options = request["poll"], os.WNOHANG
    if pid not in ended:
        found, status = os.waitpid(pid, options)
        if found:
            ended[pid] = os.waitstatus_to_exitcode(status)
    return ended.get(pid)


def _launched(line: socket.socket) -> None:
    """Start what a launcher asks for; a process between waits for its end, or for the launcher's."""
    with line:
        if os.fork():
            return
        data, outputs, *_ = socket.recv_fds(line, 1 << 16, 2)
        if not (pid := os.fork()):
            os.setsid()
            _become(*outputs)
            argv = json.loads(data)
            _run(argv[1:] if argv[0] == "-m" else argv)
        with selectors.DefaultSelector() as waiting:
            waiting.register(os.pidfd_open(pid), selectors.EVENT_READ)
            waiting.register(line, selectors.EVENT_READ)
            if any(key.fileobj is line for key, _ in waiting.select()):
                for end in (os.killpg, os.kill):
                    with suppress(ProcessLookupError):
                        end(pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with suppress(OSError):
            line.sendall(str(code).encode())
    os._exit(0)


def _become(out: int, err: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    for number, handle in enumerate((null, out, err)):
        os.dup2(handle, number)


def _run(argv: list[str]) -> NoReturn:
    sys.argv = argv
    if argv[0].endswith(".py"):
        runpy.run_path(argv[0], run_name="__main__")
    else:
        import spadework

        spadework.main()
    sys.exit()


if __name__ == "__main__":
    _serve()
