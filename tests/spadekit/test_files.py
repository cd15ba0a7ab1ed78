import os
from pathlib import Path

import pytest

from spadekit.errors import BadInput
from spadekit.files import PART, Journal, exclusive, folder_atomic, write_atomic


def test_a_failed_folder_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), folder_atomic(tmp_path / "shard") as aside:
        (aside / "part").write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_published_folder_is_never_replaced(tmp_path: Path) -> None:
    with folder_atomic(tmp_path / "shard") as aside:
        (aside / "part").write_text("first")
    with pytest.raises(FileExistsError), folder_atomic(tmp_path / "shard") as aside:
        (aside / "part").write_text("second")
    assert (tmp_path / "shard" / "part").read_text() == "first"


def test_a_written_file_replaces_the_old_one_whole(tmp_path: Path) -> None:
    write_atomic(tmp_path / "file", b"one")
    write_atomic(tmp_path / "file", b"two")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"two"


def test_a_journal_drops_a_torn_last_line_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"step": 1}\n{"step": 2}\n{"st')
    journal = Journal(path)
    assert [entry["step"] for entry in journal.entries] == [1, 2]
    journal.append({"step": 3})
    journal.close()
    again = Journal(path)
    assert [entry["step"] for entry in again.entries] == [1, 2, 3]
    again.close()


def test_a_damaged_journal_is_refused_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for damaged in (b"nonsense", b"[" * 100_000):
        path.write_bytes(b'{"step": 1}\n' + damaged + b'\n{"step": 3}\n')
        with pytest.raises(BadInput, match="line 2 is not JSON"):
            Journal(path)


def test_a_lock_is_refused_to_a_second_holder_and_free_after_the_first(tmp_path: Path) -> None:
    with (
        exclusive(tmp_path / "lock", "busy"),
        pytest.raises(BadInput, match="busy"),
        exclusive(tmp_path / "lock", "busy"),
    ):
        pass
    with exclusive(tmp_path / "lock", "busy"):
        pass


def test_what_a_kill_left_behind_is_swept_when_it_is_old(tmp_path: Path) -> None:
    old, fresh = tmp_path / f".shard.old{PART}", tmp_path / f".shard.fresh{PART}"
    theirs = tmp_path / ".venv-3.11"
    for left in (old, fresh, theirs):
        left.mkdir()
    for left in (old, theirs):
        os.utime(left, (0, 0))
    with folder_atomic(tmp_path / "shard") as aside:
        (aside / "part").write_text("whole")
    assert not old.exists()
    assert fresh.exists()
    assert theirs.exists()
