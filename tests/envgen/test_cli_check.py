"""The command check, through the front door."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

import spadework
from envgen.certificate import Terms
from envgen.config import ProducerConfig
from envgen.sourcefile import hint_of, read_source
from envgen.terms import terms_of
from solver.config import SolverConfig
from spadekit.errors import BadInput
from spadekit.settings import load

CORPORA = Path(__file__).parents[1] / "corpora"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["spadework", *arguments])
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


def test_check_and_import_hold_a_file_to_the_turns_of_the_recipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = CORPORA / "sound" / "code_behind_the_picture.py"
    few = ("--set", "solver.max_turns=1", "--json")
    assert run(monkeypatch, "check", str(file), *few) == 1
    found = json.loads(capsys.readouterr().out)["checks"][-1]
    assert (found["name"], found["verdict"]) == ("solvable", "fail")
    assert found["message"] == "solution() takes 2 turns; a policy has at most 1"
    (tmp_path / "pool").mkdir()
    shutil.copy(file, tmp_path / "pool")
    where = ("--home", str(tmp_path / "home"))
    assert run(monkeypatch, "import", str(tmp_path / "pool"), *where, *few) == 1
    [candidate] = json.loads(capsys.readouterr().out)["candidates"]
    assert (candidate["stage"], candidate["detail"]) == ("solvable", found["message"])


def test_the_terms_are_those_of_the_recipe(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[solver]\nmax_turns = 5\n[producer]\nguessable = 0.3\n")
    settings = load(recipe, (), {"solver": SolverConfig, "producer": ProducerConfig})
    assert terms_of(settings) == Terms(max_turns=5, guessable=0.3)


def test_a_hint_stands_in_the_last_lines_only() -> None:
    assert hint_of("class AEnv: pass\n# hint: think\n") == "think"
    assert hint_of("# hint: no\n" + "x = 1\n" * 9) is None


def test_a_file_without_a_solution_is_accepted_as_not_proven_winnable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(CORPORA / "sound" / "no_solution.py")
    assert run(monkeypatch, "check", file) == 0
    assert "not proven winnable" in capsys.readouterr().out.splitlines()[-1]
    assert run(monkeypatch, "check", file, "--json") == 0
    assert json.loads(capsys.readouterr().out)["winnable"] == "unknown"


def test_a_pipe_a_device_and_a_folder_are_no_source(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    for path in (tmp_path / "pipe.py", Path("/dev/zero"), tmp_path):
        with pytest.raises(BadInput, match="name one Python file"):
            read_source(path, 100)
