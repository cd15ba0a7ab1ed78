"""The command itself: processes, sockets, signals, kills, and a crowd."""

import asyncio
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

import spadework
from memory import Store

from .conftest import CHANGES, SMALL, TOKEN

CLIENTS, REQUESTS = 32, 10
HEADERS = {**CHANGES, "authorization": f"Bearer {TOKEN}"}


def command(home: Path, *more: str) -> list[str]:
    settings = [part for one in (*SMALL, "service.stock=0") for part in ("--set", one)]
    start = [sys.executable, "-m", "spadework", "serve", "--home", str(home), *settings]
    return [*start, *more]


class Served:
    """A service in a process of its own."""

    def __init__(self, home: Path, *more: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            command(home, "--port", "0", "--json", *more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            _, said = self.process.communicate()
            raise AssertionError(said)
        self.url = json.loads(line)["url"].replace("0.0.0.0", "127.0.0.1")
        self.client = httpx2.Client(base_url=self.url, timeout=30, trust_env=False)

    def post(self, path: str, body: Any = None) -> Any:
        answer = self.client.post(path, json=body, headers=HEADERS)
        assert answer.status_code == 202, answer.text
        return answer.json()

    def events(self, job: str, last: str = "") -> Generator[tuple[str, str, Any], None, None]:
        """Yield (id, name, data) of a job's events until its stream ends."""
        headers = {"last-event-id": last} if last else {}
        with self.client.stream("GET", f"/jobs/{job}/events", headers=headers, timeout=120) as got:
            assert got.headers["content-type"].startswith("text/event-stream")
            fields: dict[str, str] = {}
            for line in got.iter_lines():
                name, _, value = line.partition(": ")
                if line and name:
                    fields[name] = value
                elif "data" in fields:
                    yield fields.get("id", ""), fields["event"], json.loads(fields["data"])
                    fields = {}

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Send a signal and return the exit status and what was said on stderr."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        self.client.close()
        return self.process.returncode, said


@contextmanager
def served(home: Path, *more: str, **environment: str) -> Iterator[Served]:
    service = Served(home, *more, **environment)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.end(signal.SIGKILL)


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Run the command in this process, where it must be refused in one line; return the line."""

    def run(*more: str, home: Path = tmp_path / "nothing") -> str:
        monkeypatch.setattr(sys, "argv", ["spadework", *command(home, *more)[3:]])
        with pytest.raises(SystemExit) as ended:
            spadework.main()
        said = capsys.readouterr()
        assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1)
        assert not (tmp_path / "nothing").exists()
        return said.err

    return run


@dataclass
class Restarted:
    """A service that was killed in the middle of a round and started again, now with a token."""

    home: Path
    job: str
    designed: set[tuple[int, ...]]
    """Token ids of the designs that were in the journal when it was killed."""
    service: Served


@pytest.fixture(scope="module")
def restarted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restarted]:
    home = tmp_path_factory.mktemp("served") / "home"
    with served(home) as service:
        job = service.post("/jobs", {"kind": "generate", "rounds": 1})["id"]
        with closing(service.events(job)) as events:
            next(data for _, name, data in events if name == "progress" and data["certified"])
        service.end(signal.SIGKILL)
    (journal,) = (home / "runs/main/rounds").glob("*.jsonl")
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    designed = {tuple(one["ids"]) for one in entries if one["kind"] == "design"}
    file = home.with_name("token")
    file.write_text(TOKEN + "\n")
    with served(home, "--host", "0.0.0.0", "--token-file", str(file)) as service:
        yield Restarted(home, job, designed, service)


def test_a_job_killed_half_way_goes_on_after_a_restart_and_is_told_by_events(
    restarted: Restarted,
) -> None:
    service, job = restarted.service, restarted.job
    told = list(service.events(job))
    name, last = told[-1][1:]
    assert (name, last["state"], last["shards"]) == ("job", "done", [1])
    progress = [data for _, name, data in told if name == "progress"]
    assert progress[-1]["step"] == "published"
    assert progress[-1]["designed"] == 4
    for counter in ("designed", "certified", "decided", "measured", "plays", "tokens"):
        values = [data[counter] for data in progress]
        assert values == sorted(values)
    # A stream that broke is taken up where it was, each event once.
    third = told[2][0]
    assert list(service.events(job, third)) == told[3:]
    assert service.client.get("/jobs").json()["total"] == 1
    assert not list((restarted.home / "runs/main/rounds").glob("*.jsonl"))
    with Store.open(restarted.home / "store") as store:
        assert store.verify() == []
        shard = store.shard(1)
    assert len(shard.designs) == 4
    assert restarted.designed
    assert restarted.designed <= {one.ids for one in shard.designs}


def test_32_clients_at_once_lose_no_request_while_a_round_is_made(restarted: Restarted) -> None:
    url, old = restarted.service.url, restarted.job
    paths = (
        "/health",
        "/environments?limit=5",
        "/search?q=number&limit=3",
        "/jobs",
        "/shards",
        "/designs?limit=5",
        "/stock",
        "/policy",
        "/metrics",
        "/openapi.json",
    )

    async def client(number: int) -> list[float]:
        times = []
        async with httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as asking:
            for n in range(REQUESTS):
                path = paths[(number + n) % len(paths)]
                began = time.perf_counter()
                answer = await asking.get(path)
                assert answer.status_code == 200, answer.text
                if path == "/health":
                    times.append(time.perf_counter() - began)
            answer = await asking.post(f"/jobs/{old}/cancel", headers=HEADERS)
            assert answer.status_code == 202
        return times

    async def together() -> None:
        async with httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as asking:
            body = {"kind": "generate", "rounds": 1}
            job = (await asking.post("/jobs", json=body, headers=HEADERS)).json()["id"]
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(client(number)) for number in range(CLIENTS)]
            health = sorted(time for task in tasks for time in task.result())
            await asking.post(f"/jobs/{job}/cancel", headers=HEADERS)
            asked = (await asking.get("/metrics")).text
        assert len(health) == CLIENTS * REQUESTS // len(paths)
        answered = sum(
            float(line.rsplit(" ", 1)[1])
            for line in asked.splitlines()
            if line.startswith("spadework_http_requests_total{") and 'status="20' in line
        )
        assert answered >= CLIENTS * (REQUESTS + 1)

    asyncio.run(together())


def test_only_those_who_have_the_token_change_anything(restarted: Restarted) -> None:
    client = restarted.service.client
    assert client.get("/shards").status_code == 200
    for headers, status in (
        (CHANGES, 401),
        ({**CHANGES, "authorization": "Bearer wrong"}, 401),
        ({"authorization": f"Bearer {TOKEN}"}, 403),
        ({**HEADERS, "origin": "https://evil.example"}, 403),
        ({**HEADERS, "host": "evil.example"}, 421),
        (HEADERS, 202),
    ):
        answer = client.put("/policy", json={"version": None}, headers=headers)
        assert answer.status_code == status, headers


def test_a_body_that_is_too_large_is_answered_although_it_is_still_being_sent(
    restarted: Restarted,
) -> None:
    for body in (b" " * (3 << 20), (b" " * 65536 for _ in range(48))):
        answer = restarted.service.client.put("/policy", content=body, headers=HEADERS)
        assert answer.status_code == 413


def test_a_signal_ends_streams_and_process_in_order_and_the_job_goes_on_another_time(
    restarted: Restarted,
) -> None:
    service, heard = restarted.service, []
    job = service.post("/jobs", {"kind": "generate", "rounds": 9})["id"]
    listening = threading.Thread(
        target=lambda: heard.extend(name for _, name, _ in service.events(job))
    )
    listening.start()
    while service.client.get(f"/jobs/{job}").json()["state"] != "running":
        time.sleep(0.02)
    status, said = service.end(signal.SIGTERM)
    listening.join(30)
    assert not listening.is_alive()
    assert heard
    assert status == 0
    told = said.splitlines()
    assert told[-1] == "stopped; the same command goes on from here"
    assert f"job {restarted.job} goes on: generate 1 round" in told
    assert f"job {restarted.job} done: published shard 1" in told
    assert f"job {job} begins: generate 9 rounds" in told
    assert not [line for line in told if not line.startswith(("serving ", "job ", "stopped; "))]
    lines = (restarted.home / "runs/main/jobs.jsonl").read_text().splitlines()
    ends = [entry for entry in map(json.loads, lines) if entry["kind"] == "end"]
    assert job not in [entry["job"] for entry in ends]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--host", "0.0.0.0"), "can be reached from other machines"),
        (("--host", "::"), "can be reached from other machines"),
        (("--host", "no-such-host.invalid"), "no such address"),
        (("--token-file", "/nonexistent"), "cannot be read"),
        (("--run", "../x"), "has letters"),
        (("--set", "service.stock=-1"), "stock must be at least 0"),
        (("--set", "service.hosts=['a:1']"), "not a bare host name"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line_before_anything_is_opened(
    refused: Callable[..., str], arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(*arguments)


def test_a_token_that_is_no_secret_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "token"
    for weak in ("", "short", "with space in the middle", "\x07" * 20):
        file.write_text(weak)
        assert "at least 16" in refused("--token-file", str(file))


def test_a_port_in_use_is_one_line_before_the_home_is_opened(refused: Callable[..., str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "in use" in refused("--port", str(taken.getsockname()[1]))


def test_a_home_in_use_is_one_line(refused: Callable[..., str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with (home / "rounds.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another process produces rounds" in refused("--port", "0", home=home)
