"""The command itself: processes, sockets, signals, kills, and a crowd."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from memory import Store

from .conftest import CHANGES, SMALL, TOKEN

CLIENTS, REQUESTS = 32, 20


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
        self.url = json.loads(line)["url"]
        self.client = httpx2.Client(base_url=self.url, timeout=30, trust_env=False)

    def post(self, path: str, body: Any = None) -> Any:
        answer = self.client.post(path, json=body, headers=CHANGES)
        assert answer.status_code == 202, answer.text
        return answer.json()

    def events(self, job: str, last: str = "") -> Iterator[tuple[str, str, Any]]:
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
        self.client.close()
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


@contextmanager
def served(home: Path, *more: str, **environment: str) -> Iterator[Served]:
    service = Served(home, *more, **environment)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.end(signal.SIGKILL)


def refused(home: Path, *more: str) -> str:
    done = subprocess.run(command(home, *more), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert not home.exists()
    return done.stderr


def test_a_job_killed_half_way_goes_on_after_a_restart_and_is_told_by_events(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with served(home) as service:
        job = service.post("/jobs", {"kind": "generate", "rounds": 1})["id"]
        for _, name, data in service.events(job):
            if name == "progress" and data["certified"]:
                break
        service.end(signal.SIGKILL)
    (journal,) = (home / "runs/main/rounds").glob("*.jsonl")
    designed = [json.loads(line) for line in journal.read_text().splitlines()]
    kept = [tuple(one["ids"]) for one in designed if one["kind"] == "design"]
    assert kept
    with served(home) as service:
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
        crowd(service.url)
        status, said = service.end(signal.SIGTERM)
    assert (status, said.count("\n")) == (0, 2)
    assert "goes on from here" in said
    assert not list((home / "runs/main/rounds").glob("*.jsonl"))
    with Store.open(home / "store") as store:
        assert store.verify() == []
        shard = store.shard(1)
    assert len(shard.designs) == 4
    assert set(kept) <= {one.ids for one in shard.designs}


def crowd(url: str) -> None:
    """32 clients ask for everything at once while a round is made: no request is lost."""
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
            answer = await asking.post("/jobs/j000001/cancel", headers=CHANGES)
            assert answer.status_code == 202
        return times

    async def together() -> None:
        async with httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as asking:
            body = {"kind": "generate", "rounds": 1}
            job = (await asking.post("/jobs", json=body, headers=CHANGES)).json()["id"]
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(client(number)) for number in range(CLIENTS)]
            health = sorted(time for task in tasks for time in task.result())
            await asking.post(f"/jobs/{job}/cancel", headers=CHANGES)
            asked = (await asking.get("/metrics")).text
        assert len(health) == CLIENTS * REQUESTS // len(paths)
        answered = sum(
            float(line.rsplit(" ", 1)[1])
            for line in asked.splitlines()
            if line.startswith("spadework_http_requests_total{") and 'status="20' in line
        )
        assert answered >= CLIENTS * (REQUESTS + 1)

    asyncio.run(together())


def test_with_a_token_only_those_who_have_it_change_anything(copied: Path, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    with served(copied, "--host", "0.0.0.0", "--token-file", str(file)) as service:
        url = service.url.replace("0.0.0.0", "127.0.0.1")
        with httpx2.Client(base_url=url, trust_env=False, timeout=30) as client:
            assert client.get("/shards").status_code == 200
            right = {**CHANGES, "authorization": f"Bearer {TOKEN}"}
            for headers, status in (
                (CHANGES, 401),
                ({**CHANGES, "authorization": "Bearer wrong"}, 401),
                ({"authorization": f"Bearer {TOKEN}"}, 403),
                ({**right, "origin": "https://evil.example"}, 403),
                ({**right, "host": "evil.example"}, 421),
                (right, 202),
            ):
                answer = client.put("/policy", json={"version": None}, headers=headers)
                assert answer.status_code == status, headers
            # A body that is too large is answered although it is still being sent.
            answer = client.put("/policy", content=b" " * (3 << 20), headers=right)
            assert answer.status_code == 413
            second = refused_port(service.url)
        waiting = threading.Thread(target=lambda: list(service.events("j000001")))
        waiting.start()
        status, said = service.end(signal.SIGINT)
        waiting.join(10)
        assert not waiting.is_alive()
    assert "in use" in second
    assert status == 0, said


def refused_port(url: str) -> str:
    port = url.rpartition(":")[2]
    return refused(Path("/nonexistent/home"), "--port", port)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--host", "0.0.0.0"), "can be reached from other machines"),
        (("--host", "::"), "can be reached from other machines"),
        (("--host", "no-such-host.invalid"), "no such address"),
        (("--token-file", "/nonexistent"), "cannot be read"),
        (("--run", "../x"), "use letters"),
        (("--set", "service.stock=-1"), "stock must be at least 0"),
        (("--set", "service.hosts=['a:1']"), "not a bare host name"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line_before_anything_is_opened(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(tmp_path / "home", *arguments)


def test_a_home_in_use_is_one_line(tmp_path: Path, copied: Path) -> None:
    import fcntl

    with (copied / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            command(copied, "--port", "0"), capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "another process is at work" in done.stderr


def test_a_token_that_is_no_secret_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    for weak in ("", "short", "with space in the middle", "\x07" * 20):
        file.write_text(weak)
        assert "at least 16" in refused(tmp_path / "home", "--token-file", str(file))


def test_ports_are_bound_before_the_home_is_opened(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "in use" in refused(tmp_path / "home", "--port", port)
