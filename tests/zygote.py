"""Runs the command line in processes of their own that need not import everything again.

A server, this file run as a program, imports the libraries once and forks for each command, so a command
that is killed again and again costs its work and not its start.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

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
    """The server's client: `spadework` starts commands."""

    def __init__(self, server: "subprocess.Popen[str]", folder: Path) -> None:
        self._server, self._folder, self._count = server, folder, 0

    def spadework(self, *arguments: str) -> Command:
        """Start a command."""
        self._count += 1
        out, err = (self._folder / f"{self._count}.{name}" for name in ("out", "err"))
        pid = self.ask(start=arguments, out=str(out), err=str(err))
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
    )
    try:
        yield Zygote(server, folder)
    finally:
        server.communicate()


def _serve() -> None:
    for module in LIBRARIES:
        import_module(module)
    import spadework

    ended: dict[int, int] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "start" in request:
            answer: int | None = os.fork()
            if not answer:
                _become(request["start"], request["out"], request["err"])
                spadework.main()
                sys.exit()
        else:
            pid, options = request.get("wait"), 0
            if pid is None:
                pid, options = request["poll"], os.WNOHANG
            if pid not in ended:
                found, status = os.waitpid(pid, options)
                if found:
                    ended[pid] = os.waitstatus_to_exitcode(status)
            answer = ended.get(pid)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _become(arguments: list[str], out: str, err: str) -> None:
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    for number, path in ((1, out), (2, err)):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, number)
    sys.argv = ["spadework", *arguments]


if __name__ == "__main__":
    _serve()
