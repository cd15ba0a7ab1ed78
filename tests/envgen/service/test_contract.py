"""schemathesis over the whole API: every answer is one that the schema promises."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from .conftest import CHANGES, TOKEN, Living, living

HEADERS = {**CHANGES, "authorization": f"Bearer {TOKEN}"}
EXAMPLES = settings(
    max_examples=4,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


BEHIND_PAGES = {
    "atlas": ("GET /map", "GET /environments", "GET /search"),
    "environment": (
        "GET /environments/{name}",
        "GET /environments/{name}/plays",
        "GET /environments/{name}/neighbours",
    ),
    "play": (
        "POST /sessions",
        "GET /sessions/{name}",
        "POST /sessions/{name}/acts",
        "POST /sessions/{name}/leave",
    ),
    "rounds": ("GET /figures/rounds", "GET /jobs", "GET /jobs/{job}", "GET /shards"),
    "runs": ("GET /figures/run", "GET /policy"),
}
"""The calls that have what a page shows."""


@pytest.fixture(scope="module")
def locked(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Living]:
    """A service with a token, where nothing but a fault refuses what is well formed."""
    home = Path(shutil.copytree(filled, tmp_path_factory.mktemp("contract") / "home"))
    more = ("service.stock=0", "service.queue=100000", 'service.hosts=["testserver"]')
    with living(home, *more, token=TOKEN) as opened:
        yield opened


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_one_that_the_schema_promises(locked: Living, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", locked.app)
    positive = mode is GenerationMode.POSITIVE
    # Wrong cases bend these headers too, so there they are only where the bending starts from.
    sent, drawn = (HEADERS, {}) if positive else ({}, HEADERS)
    asked = 0

    def check(case: Any) -> None:
        nonlocal asked
        asked += 1
        answer = case.call(headers=sent)
        for job in locked.service.opened.ledger.books.jobs.values():
            if not job.is_ended:
                locked.service.worker.cancel(job.id)
        case.validate_response(answer, headers=sent)

    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) >= 26
    for operation in operations:
        if not positive and not (operation.query or operation.body):
            continue
        cases = operation.as_strategy(generation_mode=mode, headers=drawn)
        EXAMPLES(given(case=cases)(check))()
    assert asked > len(operations)


def test_what_pages_show_is_answered_as_promised_for_what_is_there(locked: Living) -> None:
    """Made-up names are answered 404, so here the calls get names of things that exist."""
    schema = schemathesis.openapi.from_dict(locked.get("/openapi.json"))
    operations = {
        f"{one.method.upper()} {one.path}": one
        for one in (result.ok() for result in schema.get_all_operations())
    }
    environment = locked.get("/environments")["items"][0]["id"]
    job = locked.get("/jobs")["items"][0]["id"]
    body = {"environment": environment, "seed": 1}
    session = locked.client.post("/sessions", json=body, headers=HEADERS).json()["id"]
    bodies = {"/sessions": body, "/sessions/{name}/acts": {"text": "x"}}
    for page, calls in BEHIND_PAGES.items():
        for call in calls:
            path = call.partition(" ")[2]
            named = {"name": session if path.startswith("/sessions") else environment, "job": job}
            # The client's own loop: a session belongs to the one that opened it.
            answer = locked.client.request(
                call.partition(" ")[0],
                path.format_map(named),
                json=bodies.get(path),
                headers=HEADERS,
            )
            assert answer.status_code in (200, 201), (page, call, answer.text)
            operations[call].validate_response(answer)
