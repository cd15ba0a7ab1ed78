import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from spadekit.errors import BadInput
from spadekit.home import producing, trainer_at_work, training

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
