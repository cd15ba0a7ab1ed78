import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from spadekit.errors import BadInput
from spadekit.home import begun, producing, trainer_at_work, training

HOLD = """
import sys, time
from pathlib import Path
from spadekit.home import training
with training(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize(
    ("role", "other", "what"),
    [(producing, training, "produces rounds in"), (training, producing, "trains in")],
)
def test_a_producer_and_a_trainer_work_beside_each_other_but_not_two_of_a_kind(
    tmp_path: Path, role: Any, other: Any, what: str
) -> None:
    with (
        other(tmp_path),
        role(tmp_path),
        pytest.raises(BadInput, match=f"another process {what} {tmp_path}"),
        role(tmp_path),
    ):
        pass
    with role(tmp_path):
        pass


def test_a_trainer_that_was_killed_is_at_work_no_longer(tmp_path: Path) -> None:
    assert not trainer_at_work(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == b"held\n"
        assert trainer_at_work(tmp_path)
        with pytest.raises(BadInput), training(tmp_path):
            pass
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    assert not trainer_at_work(tmp_path)
    with training(tmp_path):
        pass


def test_asking_whether_somebody_trains_never_refuses_one_who_begins(tmp_path: Path) -> None:
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            trainer_at_work(tmp_path)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        with training(tmp_path):
            pass
    ended.set()
    for thread in threads:
        thread.join()


@contextmanager
def opened(home: Path) -> Iterator[None]:
    """A home as opening it leaves it, nothing done yet."""
    with producing(home):
        for name in ("store/store.json", "store/lance/_versions/1", "policy/v000000/config.json"):
            (home / name).parent.mkdir(parents=True)
            (home / name).write_text("{}")
        (home / "runs/main/rounds").mkdir(parents=True)
        (home / "runs/main/rounds/000001.jsonl").touch()
        yield


def refused(home: Path, kept: str = "", error: type[Exception] = BadInput) -> None:
    with pytest.raises(Exception, match="no") as raised, begun(home), opened(home):
        if kept:
            (home / kept).parent.mkdir(parents=True, exist_ok=True)
            (home / kept).write_text("made")
        raise error("no")
    assert raised.type is error


def test_what_a_refused_command_began_is_taken_away_with_the_folders_made_for_it(
    tmp_path: Path,
) -> None:
    refused(tmp_path / "new" / "home")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "kept",
    [
        "store/shards/000001/manifest.json",
        "policy/v000001/policy.json",
        "runs/main/rounds/000001.jsonl",
        "corpus/kept.parquet",
        "notes.txt",
    ],
)
def test_a_home_with_anything_made_in_it_stays_when_a_command_is_refused(
    tmp_path: Path, kept: str
) -> None:
    refused(tmp_path / "home", kept)
    assert (tmp_path / "home" / kept).read_text() == "made"
    assert (tmp_path / "home/store/store.json").exists()


def test_a_home_stays_that_was_there_before_or_where_a_fault_of_ours_ended_the_command(
    tmp_path: Path,
) -> None:
    (tmp_path / "home").mkdir()
    refused(tmp_path / "home")
    refused(tmp_path / "other", error=OSError)
    assert (tmp_path / "home/store/store.json").exists()
    assert (tmp_path / "other/store/store.json").exists()


def test_a_home_that_another_process_works_in_stays(tmp_path: Path) -> None:
    with ExitStack() as other, pytest.raises(BadInput), begun(tmp_path / "home"):
        with opened(tmp_path / "home"):
            pass
        other.enter_context(training(tmp_path / "home"))
        raise BadInput("no")
    assert (tmp_path / "home/store/store.json").exists()
