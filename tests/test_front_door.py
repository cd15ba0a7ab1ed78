"""The command as a shell sees it: exit codes and noise when it is interrupted or nobody listens."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
class Finder:
    def find_spec(self, name, *_):
        if name == "envgen.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["spadework", "stats"]
import spadework
spadework.main()
"""


def test_an_interrupt_while_the_libraries_load_is_quiet() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, cwd=ROOT
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    ("redirected", "code", "line"),
    [
        ("show beads > /dev/full", 3, "error: stdout cannot be written: No space left on device\n"),
        ("show beads | true; exit ${PIPESTATUS[0]}", 141, ""),
        ("--help > /dev/full", 3, "error: OSError: [Errno 28] No space left on device\n"),
    ],
)
def test_what_nobody_takes_is_one_line_or_none(redirected, code, line) -> None:
    command = ["bash", "-c", f'"$0" -m spadework {redirected}', sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", line)
