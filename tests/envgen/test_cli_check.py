"""The commands check and play, through the front door."""

import io
import json
import sys
from pathlib import Path

import pytest

import spadework
from envgen.byhand import as_action
from envgen.cli_check import hint_of, read_source, resolve
from envgen.seeds import load
from memory import MemoryConfig
from sandbox import JailInfo
from spadekit.errors import BadInput

CORPORA = Path(__file__).parents[1] / "corpora"
TOOL = {
    "type": "function",
    "function": {
        "name": "pay",
        "description": "Pay somebody.",
        "parameters": {
            "type": "object",
            "properties": {"to": {"type": "string"}, "coins": {"type": "integer"}},
            "required": ["to"],
        },
    },
}
DESK = JailInfo("DeskEnv", "t", "d", "tool_use", (TOOL,), True, None)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, typed: str = "") -> int:
    monkeypatch.setattr(sys, "argv", ["spadework", *arguments])
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    with pytest.raises(SystemExit) as ended:
        spadework.main()
    return int(ended.value.code or 0)


def test_check_accepts_a_sound_file_and_prints_every_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(CORPORA / "sound" / "list_is_data.py")
    assert run(monkeypatch, "check", file, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["accepted"]
    assert {check["name"]: check["verdict"] for check in found["checks"]}["hint"] == "pass"


def test_check_refuses_a_flawed_file_with_exit_one_and_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(CORPORA / "flawed" / "seeded__ignores_seed.py")
    assert run(monkeypatch, "check", file) == 1
    told = capsys.readouterr().out
    assert "refused" in told
    assert "not reached" in told
    assert "random.Random(seed)" in " ".join(told.replace("│", " ").split())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no such file"),
        (b"", "empty"),
        (b" \n", "empty"),
        (b"\x7fELF\xff\xfe", "not UTF-8"),
        (b"class AEnv:\0", "NUL"),
        (b"#" * 70_000, "larger than"),
    ],
)
def test_a_file_that_cannot_be_judged_is_one_line_and_exit_two(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    content: bytes | None,
    says: str,
) -> None:
    file = tmp_path / "e.py"
    if content is not None:
        file.write_bytes(content)
    assert run(monkeypatch, "check", str(file)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err
    assert len(captured.err.strip().splitlines()) == 1


def test_a_folder_is_not_a_source(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="folder"):
        read_source(tmp_path, 100)


def test_a_game_is_played_by_hand_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "play", "ferry", "--seed", "4", "--hint", typed="load 1\nsail\n") == 0
    captured = capsys.readouterr()
    assert "Crate 1 is on board." in captured.out
    assert "the end after 2 turns" in captured.out
    assert "hint:" in captured.err


def test_tools_are_played_by_hand_and_the_end_of_input_leaves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = 'find_parcels name="A. Ito"\nread_label number\n{"name": "read_label"}\n'
    assert run(monkeypatch, "play", "parcels", "--json", typed=typed) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["return"] == 0
    assert "Parcels: " in captured.err
    assert "key=value" in captured.err


def test_an_unknown_environment_names_the_seeds(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="harbour"):
        resolve("nothing", tmp_path, MemoryConfig(), 99)
    for seed in load():
        assert resolve(seed.name, tmp_path, MemoryConfig(), 99) == (seed.source, seed.hint)


@pytest.mark.parametrize(
    ("line", "calls", "content"),
    [
        ("pay to=Bo coins=3", [{"name": "pay", "arguments": {"to": "Bo", "coins": 3}}], ""),
        ('pay to="B o" coins=x', [{"name": "pay", "arguments": {"to": "B o", "coins": "x"}}], ""),
        ("pay to=3", [{"name": "pay", "arguments": {"to": "3"}}], ""),
        ('{"name": "pay"}', [{"name": "pay"}], ""),
        ('{"content": "", "tool_calls": []}', [], ""),
        ("paid already", [], "paid already"),
        ("", [], ""),
    ],
)
def test_a_typed_line_becomes_calls_or_a_reply(
    line: str, calls: list[dict[str, object]], content: str
) -> None:
    assert json.loads(as_action(line, DESK)) == {"content": content, "tool_calls": calls}


@pytest.mark.parametrize("line", ["{not json", "pay to", 'pay to="x'])
def test_a_half_written_call_is_explained(line: str) -> None:
    with pytest.raises(BadInput):
        as_action(line, DESK)


def test_a_hint_stands_in_the_last_lines_only() -> None:
    assert hint_of("class AEnv: pass\n# hint: think\n") == "think"
    assert hint_of("# hint: no\n" + "x = 1\n" * 9) is None
