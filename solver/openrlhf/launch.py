"""The process that trains: asked what it has, started, listened to, ended with all that it started."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox import SandboxConfig
from solver.openrlhf import probe
from solver.openrlhf.command import MODULE, gpus
from solver.openrlhf.config import ClusterConfig
from spadekit.errors import BadInput, OurFault

_PROBE_S = 300.0
_GENTLE_S = 30.0
"""How long it may take to end by itself before it is killed."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PREFIX = re.compile(r"^\([^)]*pid=\d+[^)]*\) ")
_RAISED = re.compile(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception|Fault|BadInput|Exit)): (.+)$")
_STEP = re.compile(r"Global step (\d+): \{(.*)\}")
_FIGURE = re.compile(r"'([^']+)': (-?\d[\d.e+-]*)")
"""A figure that is no number is left out."""


def interpreter(cluster: ClusterConfig) -> str:
    """The Python that has OpenRLHF."""
    return cluster.python or sys.executable


def require(cluster: ClusterConfig, sandbox: SandboxConfig) -> None:
    """Ask the interpreter what it has; ``BadInput`` when it lacks OpenRLHF or enough GPUs."""
    command = [interpreter(cluster), str(Path(probe.__file__)), cluster.ray, sandbox.isolation]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_S, check=True)
        told = json.loads(done.stdout.splitlines()[-1])
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"cluster.python = {command[0]} cannot be asked: {error}") from None
    except subprocess.CalledProcessError as error:
        raise BadInput(
            f"cluster.python = {command[0]} cannot be asked what it has: {reason(error.stderr)}"
        ) from None
    if told["missing"]:
        raise BadInput(told["missing"])
    wanted, where = gpus(cluster), f"Ray at {cluster.ray}" if cluster.ray else "this machine"
    if told["gpus"] < wanted:
        found = f"{told['gpus']} GPUs" if told["gpus"] else "no GPU"
        raise BadInput(
            f"{where} has {found}, but [cluster] asks for {wanted}; lower cluster.gpus and "
            "cluster.engines, or train on one machine with `spadework train`"
        )


class Launch:
    """OpenRLHF at work. Its output goes to a log, from which its figures are read."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._process = process
        self._log = log
        self._read = 0
        self._figures: dict[int, dict[str, float]] = {}

    @property
    def ended(self) -> bool:
        """Whether the process is no longer there."""
        return self._process.poll() is not None

    def why(self) -> str:
        """Say in one line how it ended."""
        text = self._log.read_bytes()[-100_000:].decode("utf-8", "replace")
        return f"{reason(text)} (exit code {self._process.returncode}; {self._log})"

    def figures(self, step: int, patience_s: float) -> dict[str, float]:
        """Return what OpenRLHF logged of a global step; empty when it did not within the time."""
        end = time.monotonic() + patience_s
        while True:
            with self._log.open("rb") as handle:
                handle.seek(self._read)
                new = handle.read()
            whole = new[: new.rfind(b"\n") + 1]
            self._read += len(whole)
            self._figures |= figures(whole.decode("utf-8", "replace"))
            if step in self._figures or self.ended or time.monotonic() > end:
                return self._figures.pop(step, {})
            time.sleep(0.1)


@contextmanager
def launched(cluster: ClusterConfig, arguments: Sequence[str], folder: Path) -> Iterator[Launch]:
    """Run OpenRLHF with its files in ``folder`` while the block runs; end it with the block."""
    command = [interpreter(cluster), "-m", MODULE, *arguments]
    variables = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        # Ray leaves out lines that it takes for repetitions.
        "RAY_DEDUP_LOGS": "0",
    }
    variables.pop("RAY_ADDRESS", None)  # Ray would join whatever it names
    if cluster.ray:
        variables["RAY_ADDRESS"] = cluster.ray
    log = folder / "log.txt"
    with (
        log.open("wb") as out,
        TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as own,
    ):
        if not cluster.ray:
            # Without an address Ray joins one that runs on this machine and is noted in its usual place.
            variables["RAY_TMPDIR"] = own
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise OurFault(f"{command[0]} cannot be started: {error}") from None
        try:
            yield Launch(process, log)
        finally:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, which then ends the Ray that it started; what is left of its session is killed."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GENTLE_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def reason(text: str) -> str:
    """Return the last line of an output that says what was raised, else its last line."""
    lines = [_PREFIX.sub("", _COLOUR.sub("", line)).strip() for line in text.splitlines()]
    raised = [line for line in lines if _RAISED.match(line)]
    return (raised or [line for line in lines if line] or ["it said nothing"])[-1][:300]


def figures(text: str) -> dict[int, dict[str, float]]:
    """Return the figures of every global step that an output tells of."""
    return {
        int(found[1]): {name: float(value) for name, value in _FIGURE.findall(found[2])}
        for line in text.splitlines()
        if (found := _STEP.search(_COLOUR.sub("", line)))
    }
