"""The journal of jobs: what a restart finds is what was promised."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from envgen.service.jobs import Job, Ledger, next_job
from spadekit.errors import BadInput


class Home:
    """A folder whose journal is opened, closed and opened again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "jobs.jsonl"
        self.ledger: Ledger | None = None

    def open(self, keep: int = 100) -> Ledger:
        self.close()
        self.ledger = Ledger(self.path, keep)
        return self.ledger

    def close(self) -> None:
        if self.ledger is not None:
            self.ledger.close()
            self.ledger = None


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    opened = Home(tmp_path)
    yield opened
    opened.close()


def test_every_change_is_there_after_a_restart(home: Home) -> None:
    ledger = home.open()
    first = ledger.add("generate", "user", rounds=3)
    second = ledger.add("measure", "stock", environments=("ab", "cd"), policy_version=4)
    third = ledger.add("generate", "user", rounds=1)
    ledger.start(first.id)
    ledger.begin_round(first.id, 7)
    ledger.begin_round(first.id, 7)
    ledger.end(second.id, "failed", "no jail")
    ledger.cancel(third.id)
    ledger.pin(2)
    before = ledger.books
    ledger = home.open()
    assert ledger.books == before
    assert ledger.books.pinned == 2
    states = {name: (job.state, job.shards) for name, job in ledger.books.jobs.items()}
    assert states == {
        "j000001": ("running", (7,)),
        "j000002": ("failed", ()),
        "j000003": ("cancelled", ()),
    }
    assert ledger.add("generate", "user", rounds=1).id == "j000004"


def test_a_line_torn_by_a_kill_is_dropped(home: Home) -> None:
    ledger = home.open()
    job = ledger.add("generate", "user", rounds=3)
    home.close()
    with home.path.open("ab") as out:
        out.write(b'{"kind": "start", "jo')
    ledger = home.open()
    assert ledger.books.jobs[job.id].state == "queued"
    ledger.start(job.id)
    assert home.open().books.jobs[job.id].state == "running"


def test_a_job_being_cancelled_when_the_process_died_does_not_go_on(home: Home) -> None:
    ledger = home.open()
    job = ledger.add("generate", "user", rounds=3)
    ledger.start(job.id)
    assert not ledger.cancel(job.id).is_ended
    assert home.open().books.jobs[job.id].state == "cancelled"


def test_what_was_cancelled_cannot_be_started(home: Home) -> None:
    ledger = home.open()
    job = ledger.add("generate", "user", rounds=3)
    assert ledger.cancel(job.id).state == "cancelled"
    assert ledger.start(job.id).state == "cancelled"
    assert ledger.cancel(job.id).ended == ledger.books.jobs[job.id].ended


def test_the_journal_forgets_old_jobs_but_none_that_waits(home: Home) -> None:
    ledger = home.open(2)
    waiting = ledger.add("generate", "user", rounds=1)
    for _ in range(9):
        ledger.end(ledger.add("generate", "user", rounds=1).id, "done", "")
    assert len(ledger.books.jobs) < 9
    ledger = home.open(2)
    assert list(ledger.books.jobs) == [waiting.id, "j000009", "j000010"]
    assert home.path.read_bytes().count(b"\n") == 4
    assert ledger.add("generate", "user", rounds=1).id == "j000011"


def test_what_was_begun_goes_on_first_then_users_then_the_stock() -> None:
    def job(name: str, state: str, origin: str = "user") -> Job:
        return Job(name, "generate", origin, "", state=state)  # type: ignore[arg-type]

    stock, user, later = job("a", "queued", "stock"), job("b", "queued"), job("c", "queued")
    begun = job("d", "running", "stock")
    assert next_job([stock, user, later, begun]) == begun
    assert next_job([stock, user, later]) == user
    assert next_job([stock, job("e", "done")]) == stock
    assert next_job([]) is None


def test_threads_get_different_jobs_and_all_are_kept(home: Home) -> None:
    ledger = home.open(1000)
    names: list[str] = []
    threads = [
        threading.Thread(
            target=lambda: names.extend(
                ledger.add("generate", "user", rounds=1).id for _ in range(10)
            )
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 80
    assert set(home.open(1000).books.jobs) == set(names)


@pytest.mark.parametrize(
    "line", ["{}", '{"kind": "end", "job": "j000009", "state": "done", "message": "", "at": ""}']
)
def test_a_line_that_is_no_change_of_a_job_is_named(home: Home, line: str) -> None:
    home.path.write_text('{"kind": "pin", "version": 1}\n' + line + "\n")
    with pytest.raises(BadInput, match=r"jobs\.jsonl: line 2 is damaged"):
        home.open()
