import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from spadekit.report import Report

ROOT = Path(__file__).parents[2]


def test_data_goes_to_stdout_and_notes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(as_json=True)
    report.note("working")
    report.table("title", ["a", "b"], [[1, None]])
    captured = capsys.readouterr()
    assert json.loads(captured.out) == [{"a": 1, "b": None}]
    assert captured.err == "working\n"


def test_hostile_text_is_shown_and_never_sent_to_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = Report()
    report.text("\x1b[2J[red]title[/red]\x07")
    report.table("[red]\x1b[2J", ["title"], [["\x1b]0;owned\x07[bold]x"]])
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\x07" not in out
    assert "\\x1b[2J[red]title[/red]\\x07" in out
    assert "\\x1b]0;owned\\x07[bold]x" in out


def test_an_error_of_hostile_text_is_one_printable_line(capsys: pytest.CaptureFixture[str]) -> None:
    Report().error("reset() raised:\n\x1b]0;owned\x07")
    err = capsys.readouterr().err
    assert err == "error: reset() raised: \\x1b]0;owned\\x07\n"


def test_json_is_valid_whatever_is_in_it_and_steers_no_terminal(capsys) -> None:
    value = {
        "regret": float("nan"),
        "rows": [(1.5, float("inf"))],
        "title": "a\u009b2J\u202eb\U000e0001",
    }
    Report(as_json=True).data(value)
    printed = capsys.readouterr().out
    assert printed.strip().isprintable()
    expected = {"regret": None, "rows": [[1.5, None]], "title": value["title"]}
    assert json.loads(printed) == expected


PROGRAM = """
import sys
from spadekit.errors import OurFault
from spadekit.report import Report
report = Report(as_json=sys.argv[1] == "json")
try:
    for number in range(2000):
        report.table("figures", ["number"], [[number]])
except OurFault as fault:
    report.error(str(fault))
    sys.exit(3)
"""


@pytest.mark.parametrize("form", ["json", "table"])
@pytest.mark.parametrize(
    ("redirected", "code", "line"),
    [
        (">&-", 3, "error: stdout is closed: there is nowhere to print to\n"),
        (">/dev/full", 3, "error: stdout cannot be written: No space left on device\n"),
        ("| true; exit ${PIPESTATUS[0]}", 141, ""),
    ],
)
def test_a_stdout_that_takes_nothing_is_one_line_and_a_reader_who_left_none(
    form, redirected, code, line
) -> None:
    command = ["bash", "-c", f'"$@" {redirected}', "bash", sys.executable, "-c", PROGRAM, form]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", line)


def test_notes_go_nowhere_when_stderr_is_closed_and_never_among_the_data() -> None:
    program = "from spadekit.report import Report as R; R(True).note('a note'); R(True).data([])"
    command = ["bash", "-c", '"$@" 2>&-', "bash", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "[]\n")


def test_names_in_the_progress_line_are_no_markup() -> None:
    progress = Report().progress()
    progress.add_task("reading a[red]b[/blue]", note="[/x]")
    shown = Console(file=io.StringIO(), width=200)
    shown.print(progress.get_renderable())
    assert isinstance(shown.file, io.StringIO)
    assert "reading a[red]b[/blue]" in shown.file.getvalue()
    assert "[/x]" in shown.file.getvalue()


@pytest.mark.parametrize(("width", "left_out"), [(60, "policy, skills"), (70, "policy"), (90, "")])
def test_a_narrow_terminal_goes_without_the_least_important_columns(
    width: int, left_out: str
) -> None:
    report, shown = Report(), io.StringIO()
    report.out = type(report.out)(file=shown, width=width)
    row = [
        "abcdefab",
        "Bring the boat through the locks of the canal.",
        "spatial_reasoning",
        3,
        0.5,
    ]
    columns = ("id", "title", "skills", "policy", "regret")
    report.table("", columns, [row], spare=("policy", "skills"))
    printed = shown.getvalue()
    for column in columns:
        heading = printed.splitlines()[1]
        assert (column in heading) == (column not in left_out), heading
    assert (f"no room for: {left_out}" in printed) == bool(left_out)
    assert all(len(line) <= width for line in printed.splitlines())


def test_lone_surrogates_are_escaped_in_json_and_shown_in_tables(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Report(as_json=True).data({"\ud800key": ["caf\udce9"]})
    Report().table("\ud800", ("a",), [("caf\udce9",)])
    out = capsys.readouterr().out
    out.encode()
    assert json.loads(out.splitlines()[0]) == {"\ud800key": ["caf\udce9"]}
    assert "caf\\xdce9" in out
