import json

import pytest

from spadekit.report import Report


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
