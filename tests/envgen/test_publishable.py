"""What publishes shards refuses the same stores, whichever command it is."""

import shutil
import sys
from pathlib import Path

import pytest

import spadework
from memory import MemoryConfig, Store

ROOT = Path(__file__).parents[2]
COMMANDS = (
    ("generate",),
    ("loop",),
    ("import", str(ROOT / "tests" / "corpora" / "sound" / "greek_letters.py")),
)
"""Every command that publishes; ``serve`` opens its home as ``generate`` does."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two shards of the run `main`, known to the tables."""
    with Store.open(str(tmp_path / "home" / "store"), MemoryConfig(), create=True) as store:
        for number in (1, 2):
            store.publish(number, [], [], [], [], meta={"run": "main"})
    return tmp_path / "home"


def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *command: str
) -> str:
    monkeypatch.setattr(sys, "argv", ["spadework", *command])
    with pytest.raises(SystemExit) as ended:
        spadework.main()
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_nothing_is_published_where_a_shard_has_gone_that_the_tables_know(
    command: tuple[str, ...],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.rmtree(home / "store" / "shards" / "000002")
    told = refused(monkeypatch, capsys, *command, "--home", str(home))
    assert "shard 2" in told
    assert "spadework memory rebuild" in told
    assert [path.name for path in (home / "store" / "shards").iterdir()] == ["000001"]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_two_runs_do_not_mix_in_a_store(
    command: tuple[str, ...],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = refused(monkeypatch, capsys, *command, "--home", str(home), "--run", "other")
    assert "holds run `main`: go on with --run main" in told
    assert len(list((home / "store" / "shards").iterdir())) == 2
