"""Processes of our own that do work of others' making: nothing secret in their environment, lines back."""

import os
import select
import subprocess
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO

KEPT = frozenset(
    {
        *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"),
        *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "XDG_CACHE_HOME"),
    }
)
"""What such a process needs. All else stays here: tokens, keys, addresses with passwords in them."""


def environment(**more: str) -> dict[str, str]:
    """Return the variables of a process that runs code or reads data of strangers.

    It and the processes that it starts import nothing from the working folder, which may be a stranger's.
    """
    kept = {name: os.environ[name] for name in KEPT & os.environ.keys()}
    return kept | {"PYTHONSAFEPATH": "1"} | more


@contextmanager
def answering() -> Iterator[IO[str]]:
    """Give a process of this kind what was its stdout, and end it with the block.

    What packages print is not ours to parse: it goes to stderr. Threads that they left behind do not
    keep the process.
    """
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    yield lines
    lines.flush()
    os._exit(0)


class Child:
    """A process that answers by lines, each waited for at most so long."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        self._in: IO[bytes] | None = process.stdin
        self._pipe, self._rest = process.stdout.fileno(), bytearray()

    def tell(self, line: bytes) -> None:
        """Send a line; one that has ended hears nothing, which the next answer says."""
        assert self._in is not None
        with suppress(BrokenPipeError):
            self._in.write(line + b"\n")
            self._in.flush()

    def next(self, seconds: float, longest: int) -> bytes:
        """Return a line of at most ``longest`` bytes, empty at the end.

        Raises ``TimeoutError``, and ``ValueError`` for a longer line.
        """
        looked = 0
        while (end := self._rest.find(b"\n", looked)) < 0:
            looked = len(self._rest)
            if looked > longest:
                raise ValueError(f"a line of more than {longest} bytes")
            if not select.select([self._pipe], [], [], seconds)[0]:
                raise TimeoutError
            data = os.read(self._pipe, 1 << 20)
            if not data:
                return b""
            self._rest += data
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line


@contextmanager
def child(
    command: Sequence[str], variables: Mapping[str, str], *, told: bool = False
) -> Iterator[Child]:
    """Run a command; it ends with the block, whatever it is doing. ``told``: it will be sent lines."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE if told else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(variables),
    )
    try:
        yield Child(process)
    finally:
        process.kill()
        process.wait()
        for pipe in filter(None, (process.stdin, process.stdout)):
            with suppress(BrokenPipeError):
                pipe.close()
