"""The command as a shell sees it: exit codes and noise when it is interrupted or nobody listens."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import spadework

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


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("stats", "--home", "nowhere"), 2, "nowhere/store: no store here"),
        (("stats", "--set", "polcy.model=x"), 2, "--set polcy.model: unknown section [polcy]"),
        (("stats", "--nonsense"), 2, "No such option: --nonsense"),
        (("generate", "--rounds", "9" * 12), 2, "less than or equal to 999999"),
        (("train", "--steps", "9" * 12), 2, "less than or equal to 999999"),
        (("nonsense",), 2, "No such command 'nonsense'."),
    ],
)
def test_what_ends_a_command_early_is_json_too_where_json_was_asked_for(
    arguments: tuple[str, ...], code: int, error: str, capsys, monkeypatch
) -> None:
    for more in (("--json",), ()):
        monkeypatch.setattr(sys, "argv", ["spadework", *arguments, *more])
        with pytest.raises(SystemExit) as ended:
            spadework.main()
        said = capsys.readouterr()
        assert ended.value.code == code
        assert error in said.err
        if more:
            found = json.loads(said.out)
            assert found.keys() == {"error", "exit"}
            assert error in found["error"]
            assert found["exit"] == code
        else:
            assert said.out == ""


def test_a_fault_in_a_command_is_a_trace_for_people_and_one_object_for_programs(
    capsys, monkeypatch
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("a wire\ncame loose")

    monkeypatch.setattr(spadework, "app", fail)
    monkeypatch.setattr(sys, "argv", ["spadework", "stats", "--json"])
    with pytest.raises(SystemExit) as ended:
        spadework.main()
    said = capsys.readouterr()
    assert json.loads(said.out) == {"error": "RuntimeError: a wire came loose", "exit": 3}
    assert ended.value.code == 3
    assert "Traceback" in said.err
