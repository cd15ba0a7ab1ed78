"""Playing by hand, and one environment as one text file, through the front door."""

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spadework
from envgen.byhand import as_action
from envgen.cli_play import resolve
from envgen.seeds import load
from envgen.sourcefile import parse, write
from memory import MemoryConfig, Store
from sandbox import JailInfo
from spadekit.errors import BadInput

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
BROKEN = '''
class BrokenEnv:
    """Breaks at the first step."""
    def reset(self, seed=None):
        return "Go.", {}
    def step(self, action):
        raise KeyError(action)
'''


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, typed: str = "") -> int:
    monkeypatch.setattr(sys, "argv", ["spadework", *arguments])
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    with pytest.raises(SystemExit) as ended:
        spadework.main()
    return int(ended.value.code or 0)


def test_a_game_is_played_by_hand_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = "load 1\n:hint\nsail\n"
    assert run(monkeypatch, "play", "ferry", "--seed", "4", "--hint", typed=typed) == 0
    captured = capsys.readouterr()
    assert "Crate 1 is on board." in captured.out
    assert "the end after 2 turns" in captured.out
    assert "hint:" in captured.err
    assert captured.out.count("hint: ") == 1


def test_tools_are_played_by_hand_and_the_end_of_input_leaves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = 'find_parcels name="A. Ito"\nread_label number\n{"name": "read_label"}\n'
    assert run(monkeypatch, "play", "parcels", "--json", typed=typed) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["return"] == 0
    assert "tool: Parcels: " in captured.err
    assert "key=value" in captured.err


def test_a_line_of_three_megabytes_is_not_played_and_the_game_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = "x" * 3_000_000 + "\nload 1\n" + '"' * 50_000 + "\nsail\n"
    assert run(monkeypatch, "play", "ferry", "--seed", "4", typed=typed) == 0
    captured = capsys.readouterr()
    assert captured.err.count("not played") == 2
    assert len(captured.err) < 1000
    assert "the end after 2 turns" in captured.out


def test_quitting_returns_nothing_and_odd_bytes_are_no_crash(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "play", "beads", typed="\udcff\x1b[2J\n:quit\n7\n") == 0
    out = capsys.readouterr().out
    assert out.endswith("return 0\n")
    assert "\x1b" not in out


def test_an_environment_that_fails_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "broken.py"
    file.write_text(BROKEN)
    assert run(monkeypatch, "play", str(file), typed="left\n") == 2
    assert "the environment fails" in capsys.readouterr().err


def test_a_seed_is_shown_by_its_name_without_a_store(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    home = str(tmp_path / "none")
    assert run(monkeypatch, "show", "beads", "--json", "--home", home) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["skills"] == ["pattern_recognition"]
    assert run(monkeypatch, "show", "beads", "--home", home) == 0
    assert "class BeadStringEnv" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()


def test_an_unknown_environment_names_the_seeds(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="harbour"):
        resolve("nothing", tmp_path, MemoryConfig(), 99)
    for seed in load():
        assert resolve(seed.name, tmp_path, MemoryConfig(), 99) == seed


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


@pytest.mark.parametrize("line", ["{not json", "pay to", 'pay to="x', '{"a":' * 9_000])
def test_a_half_written_call_is_explained(line: str) -> None:
    with pytest.raises(BadInput):
        as_action(line, DESK)


def test_a_mistyped_tool_is_no_reply_that_ends_the_turn() -> None:
    with pytest.raises(BadInput, match="no tool 'paay'; there is pay"):
        as_action("paay to=Bo", DESK)


def test_an_unknown_order_costs_no_turn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "play", "ferry", "--seed", "4", typed=":hnt\nload 1\n:quit\n") == 0
    printed = capsys.readouterr()
    told = printed.out + printed.err
    assert "no order :hnt; there are :quit, :hint, :tools, :help" in told
    assert "Crate 1 is on board." in told


HINTS = ("", "Think.", "two\nlines", ' "quoted" ', '"quoted"', "tail \t", "# hint: x")
SOURCES = ("class AEnv: pass\n", "class AEnv: pass", "x = 1\n# hint: inner\n", "x\n# skills: a\n\n")


@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_file_reads_back_to_the_same_source_and_hint(source: str, hint: str) -> None:
    read = parse(write(source, hint, ("a", "b"), 3))
    assert (read.source, read.hint, read.skills, read.difficulty) == (source, hint, ("a", "b"), 3)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='ab#:" \n\r\t\\hint', max_size=30), st.text(max_size=20))
def test_any_source_and_hint_read_back(source: str, hint: str) -> None:
    read = parse(write(source, hint))
    assert (read.source, read.hint) == (source, hint)


def test_a_last_line_is_the_hint_and_no_part_of_the_source() -> None:
    read = parse("class AEnv: pass\n\n\n# hint: think\n\n")
    assert (read.source, read.hint) == ("class AEnv: pass\n\n\n", "think")
    assert parse("# hint: no\n" + "x = 1\n" * 9).hint == ""


def test_a_mistyped_seed_is_told_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    assert run(monkeypatch, "play", "beeds", "--home", str(home)) == 2
    assert "did you mean the seed `beads`?" in capsys.readouterr().err
    with Store.open(home / "store", create=True):
        pass
    assert run(monkeypatch, "play", "beeds", "--home", str(home)) == 2
    assert "did you mean the seed `beads`?" in capsys.readouterr().err
