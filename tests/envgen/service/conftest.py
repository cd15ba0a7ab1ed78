"""A service that really works: the policy that ships, real jails, a real store."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from envgen.service.app import make_app
from envgen.service.config import ServiceConfig
from envgen.service.guard import Rules
from envgen.service.metrics import Metrics
from envgen.service.state import Service
from envgen.service.worker import Worker
from spadekit.report import Report
from spadekit.settings import load
from spadework import RECIPES, SECTIONS

TOKEN = "a-token-of-the-tests"
SMALL = ("producer.designs=4", "producer.designs_per_brief=2", "probe.plays=6")
CHANGES = {"x-spadework": "1"}


@dataclass
class Living:
    """A running service without its socket."""

    home: Path
    service: Service
    app: ASGIApp
    client: TestClient

    def get(self, path: str, **params: Any) -> Any:
        answer = self.client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None) -> Any:
        answer = self.client.post(path, json=body, headers=CHANGES)
        assert answer.status_code == 202, answer.text
        return answer.json()

    def put(self, path: str, body: Any) -> Any:
        answer = self.client.put(path, json=body, headers=CHANGES)
        assert answer.status_code == 202, answer.text
        return answer.json()

    def until(self, what: Callable[[], Any], limit_s: float = 120.0) -> Any:
        """Wait until something is so, and return it."""
        end = time.monotonic() + limit_s
        while not (found := what()):
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.02)
        return found

    def ended(self, job: str) -> Any:
        """Wait until a job has ended, and return it."""

        def look() -> Any:
            found = self.get(f"/jobs/{job}")
            return found if found["state"] in ("done", "failed", "cancelled") else None

        return self.until(look)


@contextmanager
def living(home: Path, *overrides: str, token: str = "") -> Iterator[Living]:
    """Run a service of ``home`` while the block runs."""
    settings = load(RECIPES / "embedded.toml", (*SMALL, *overrides), SECTIONS)
    metrics, config = Metrics(), settings.section(ServiceConfig)
    worker = Worker(home, "main", settings, Report(), metrics)
    rules = Rules.of("127.0.0.1", config.hosts, token)
    service = Service(worker.start(), worker, metrics, rules, config)
    app = make_app(service)
    try:
        with TestClient(app, base_url="http://localhost") as client:
            yield Living(home, service, app, client)
    finally:
        assert worker.stop(60)
        if worker.error is not None:
            raise worker.error


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one shard."""
    home = tmp_path_factory.mktemp("filled") / "home"
    with living(home, "service.stock=0") as service:
        job = service.post("/jobs", {"kind": "generate"})
        assert service.ended(job["id"])["state"] == "done"
    return home


@pytest.fixture
def copied(filled: Path, tmp_path: Path) -> Path:
    """A copy of that home."""
    return Path(shutil.copytree(filled, tmp_path / "home"))


@pytest.fixture(scope="module")
def service(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Living]:
    """A service of a copy of that home, without a stock and without a token."""
    home = Path(shutil.copytree(filled, tmp_path_factory.mktemp("service") / "home"))
    with living(home, "service.stock=0", "service.watch_s=0.05") as opened:
        yield opened
