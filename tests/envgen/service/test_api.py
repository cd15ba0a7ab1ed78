"""What the API answers, over a home that one real round has filled."""

import json
import re
from typing import Any

import pytest

from memory import Store

from .conftest import CHANGES, Living


def test_environments_come_in_pages_and_each_is_found_by_the_start_of_its_id(
    service: Living,
) -> None:
    whole = service.get("/environments")
    assert whole["total"] == len(whole["items"]) >= 2
    first = service.get("/environments", limit=1)
    rest = service.get("/environments", limit=200, offset=1)
    assert first["items"] + rest["items"] == whole["items"]
    assert service.get("/environments", offset=10**8)["items"] == []
    name = whole["items"][0]["id"]
    shown = service.get(f"/environments/{name[:8]}")
    assert shown["id"] == name
    assert "class" in shown["source"]
    assert [check["verdict"] for check in shown["checks"]].count("fail") == 0
    assert shown["standings"][-1] == shown["standing"]
    assert shown["why"].startswith("new")


def test_filters_on_the_newest_figures_hold_for_lists_and_searches(service: Living) -> None:
    whole = service.get("/environments", limit=200)["items"]
    for status in ("frontier", "mastered", "hopeless", "unmeasured"):
        wanted = {one["id"] for one in whole if one["status"] == status}
        listed = service.get("/environments", status=status)
        assert {one["id"] for one in listed["items"]} == wanted
        assert listed["total"] == len(wanted)
    hits = service.get("/search", regret_from=0.3)
    assert {hit["environment"]["id"] for hit in hits} == {
        one["id"] for one in whole if one["standing"]["regret"] >= 0.3
    }
    assert service.get("/search", regret_from=0.5, regret_to=0.2) == []
    skill = whole[0]["skills"][0]
    assert service.get("/environments", skill=skill.replace("_", " "))["total"] > 0


def test_search_by_words_and_by_likeness(service: Living) -> None:
    one = service.get("/environments")["items"][0]
    hits = service.get("/search", q=one["title"], limit=5)
    assert hits[0]["environment"]["title"] == one["title"]
    near = service.get(f"/environments/{one['id']}/neighbours", limit=5)
    assert near
    assert one["id"] not in [hit["environment"]["id"] for hit in near]


def test_plays_and_designs_are_those_of_the_store(service: Living) -> None:
    with Store.open(service.home / "store") as store:
        shard = store.shard(1)
    name = shard.environments[0].id
    plays = service.get(f"/environments/{name}/plays", limit=200)
    assert {one["id"] for one in plays["items"]} == {
        one.id for one in shard.plays if one.environment == name
    }
    assert all(one["transcript"][0]["role"] == "user" for one in plays["items"])
    designs = service.get("/designs", shard=1, limit=200)
    assert {one["id"] for one in designs["items"]} == {one.id for one in shard.designs}
    assert service.get("/designs", shard=1, outcome="admitted")["total"] == len(shard.environments)
    shown = service.get(f"/designs/{shard.designs[0].id}")
    assert (shown["text"], shown["tokens"]) == (shard.designs[0].text, len(shard.designs[0].ids))
    assert service.get("/shards/1")["digest"] == shard.manifest.digest
    assert service.get("/shards")["total"] == 1


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/environments/ffffffff", 404, "no environment ffffffff"),
        ("/environments/xyz", 422, "name: String should match"),
        ("/environments?limit=0", 422, "limit: Input should be greater"),
        ("/environments?limit=10000", 422, "limit: Input should be less"),
        ("/environments?offset=-1", 422, "offset: "),
        ("/environments?status=nice", 422, "status: "),
        ("/environments?skill=nonsense", 404, "nonsense"),
        ("/search?skill=nonsense", 404, "nonsense"),
        ("/search?q=%00", 422, "q: "),
        ("/search?regret_from=nan", 422, "regret_from: "),
        ("/shards/99", 404, "no shard 99"),
        ("/designs/ffffffff", 404, "no design ffffffff"),
        ("/jobs/j999999", 404, "no job j999999"),
        ("/jobs/j999999/events", 404, "no job j999999"),
        ("/jobs/1", 422, "job: "),
        ("/nothing", 404, "Not Found"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    service: Living, path: str, status: int, words: str
) -> None:
    answer = service.client.get(path)
    assert answer.status_code == status
    body = answer.json()
    assert list(body) == ["detail"]
    assert words in body["detail"]
    assert "\n" not in body["detail"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b"[]", 422),
        (b"\xff", 422),
        (b"[" * 100_000, 422),
        (b'{"kind": "destroy"}', 422),
        (b'{"kind": "generate", "rounds": 0}', 422),
        (b'{"kind": "generate", "rounds": true}', 422),
        (b'{"kind": "generate", "rounds": 1, "more": 1}', 422),
        (b'{"kind": "measure", "environments": []}', 422),
        (b'{"kind": "measure", "environments": ["ffffffffffffffffffff"]}', 404),
        (b" " * (1 << 20) + b"{}", 413),
    ],
)
def test_a_body_that_is_wrong_or_too_large_starts_nothing(
    service: Living, body: bytes, status: int
) -> None:
    before = service.get("/jobs")["total"]
    headers = {**CHANGES, "content-type": "application/json"}
    answer = service.client.post("/jobs", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert "detail" in answer.json()
    assert service.get("/jobs")["total"] == before


def test_a_large_body_without_its_length_is_refused_as_well(service: Living) -> None:
    headers = {**CHANGES, "content-type": "application/json"}
    chunks = (b" " * 65536 for _ in range(40))
    answer = service.client.post("/jobs", content=chunks, headers=headers)
    assert answer.status_code == 413


def test_the_documentation_needs_nothing_from_another_host(service: Living) -> None:
    page = service.client.get("/docs")
    assert page.status_code == 200
    links = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    assert links
    for link in links:
        assert not re.match(r"\w+:|//", link)
        asset = service.client.get("/" + link)
        assert asset.status_code == 200
        assert asset.content
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "http" not in service.client.get("/docs/start.js").text
    assert service.client.get("/docs/../../etc/passwd").status_code == 404
    assert service.client.get("/docs/core.py").status_code == 404


def test_every_call_is_documented(service: Living) -> None:
    schema = service.get("/openapi.json")
    for path, calls in schema["paths"].items():
        for method, call in calls.items():
            where = f"{method} {path}"
            assert call["tags"], where
            assert call["description"], where
            changing = method not in ("get", "head")
            names = [one["name"] for one in call.get("parameters", [])]
            assert ("X-Spadework".lower() in [name.lower() for name in names]) == changing, where


def test_answers_forbid_guessing_of_types_and_framing(service: Living) -> None:
    for path in ("/environments", "/health", "/metrics", "/nothing"):
        headers = service.client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["content-security-policy"].startswith("default-src 'none'")


def test_metrics_tell_requests_jobs_and_versions(service: Living) -> None:
    service.get("/health")
    text = service.client.get("/metrics").text
    values = dict(
        line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#")
    )
    health = 'spadework_http_requests_total{method="GET",route="/health",status="200"}'
    assert float(values[health]) >= 1
    assert float(values['spadework_policy_version{which="serving"}']) == 0
    assert float(values["spadework_stock_level"]) == 0
    for number in range(5):
        service.client.get(f"/made-up/{number}")
    assert "made-up" not in service.client.get("/metrics").text


def events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_a_cancelled_round_is_gone_on_with_by_the_next_job_and_nothing_is_lost(
    service: Living,
) -> None:
    first = service.post("/jobs", {"kind": "generate", "rounds": 5})

    def designed() -> bool:
        return bool((service.get(f"/jobs/{first['id']}")["progress"] or {}).get("designed"))

    service.until(designed)
    service.post(f"/jobs/{first['id']}/cancel")
    assert service.ended(first["id"])["state"] == "cancelled"
    (journal,) = (service.home / "runs/main/rounds").glob("*.jsonl")
    kept = [line for line in journal.read_text().splitlines() if '"kind": "design"' in line]
    assert kept
    assert service.get("/shards")["total"] == 1
    second = service.post("/jobs", {"kind": "generate", "rounds": 1})
    ended = service.ended(second["id"])
    assert (ended["state"], ended["shards"]) == ("done", [2])
    texts = [one.ids for one in service.service.opened.store.shard(2).designs]
    assert all(tuple(json.loads(line)["ids"]) in texts for line in kept)
    assert not list((service.home / "runs/main/rounds").glob("*.jsonl"))
    stream = events(service.client.get(f"/jobs/{second['id']}/events").text)
    assert [(name, data["state"]) for name, data in stream] == [("job", "done")]


def test_a_waiting_job_is_cancelled_at_once(service: Living) -> None:
    first = service.post("/jobs", {"kind": "generate", "rounds": 1})
    second = service.post("/jobs", {"kind": "generate", "rounds": 1})
    assert service.post(f"/jobs/{second['id']}/cancel")["state"] == "cancelled"
    service.post(f"/jobs/{first['id']}/cancel")
    service.ended(first["id"])
    assert service.post(f"/jobs/{second['id']}/cancel")["state"] == "cancelled"


def test_a_damaged_version_does_not_serve_and_the_old_one_stays(service: Living) -> None:
    policy = service.home / "policy"
    broken = policy / "v000001"
    broken.mkdir()
    for file in (policy / "v000000").iterdir():
        (broken / file.name).write_bytes(file.read_bytes()[:1000])
    now = service.until(lambda: (p := service.get("/policy"))["problem"] and p)
    assert (now["serving"], now["target"], now["newest"]) == (0, 1, 1)
    assert "v000001" in now["problem"]
    pinned = service.put("/policy", {"version": 0})
    assert pinned["pinned"] == 0
    now = service.until(lambda: not (p := service.get("/policy"))["problem"] and p)
    assert (now["serving"], now["target"]) == (0, 0)
    for file in broken.iterdir():
        file.unlink()
    broken.rmdir()
    answer = service.client.put("/policy", json={"version": 7}, headers=CHANGES)
    assert (answer.status_code, answer.json()["detail"]) == (404, "there is no policy version 7")
    service.put("/policy", {"version": None})
