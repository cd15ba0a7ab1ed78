"""Every page over plain HTTP: what it says, what it weighs, and that hostile text stays text."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from starlette.testclient import TestClient

from envgen.service.pages.shell import POLICY

from ..conftest import CHANGES
from .conftest import Opened, missing

MOST_BYTES = 150_000
PAGES = ("/atlas", "/environment/{game}", "/environment/{hostile}", "/rounds", "/runs")
FORM = {**CHANGES, "content-type": "application/x-www-form-urlencoded"}


def page(looked: Opened, path: str, code: int = 200, **params: Any) -> str:
    ids = {name: one.id for name, one in looked.known.items()}
    answer = looked.client.get(path.format(**ids), params=params)
    assert answer.status_code == code, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"] == POLICY
    return answer.text


@pytest.mark.parametrize("path", PAGES)
def test_a_page_loads_nothing_from_elsewhere_and_stays_small(looked: Opened, path: str) -> None:
    text = page(looked, path)
    loaded = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert all(one.startswith(("/", "#")) for one in loaded)
    statics = {one for one in loaded if one.startswith("/static/")}
    weight = len(text.encode())
    for one in statics:
        answer = looked.client.get(one, headers={"accept-encoding": "identity"})
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        weight += 0 if "plotly" in one else len(answer.content)
    assert weight < MOST_BYTES


@pytest.mark.parametrize(
    "path",
    [*PAGES, "/environment/{hostile}/plays", "/environment/{game}/near", "/atlas/card/{hostile}"],
)
def test_no_page_holds_a_script_or_a_style_or_a_handler_of_its_own(
    looked: Opened, path: str
) -> None:
    tags = Tags()
    tags.feed(page(looked, path))
    for tag, given in tags.found:
        assert tag != "style"
        assert tag != "script" or "src" in given
        assert not [name for name in given if name == "style" or name.startswith("on")]


class Tags(HTMLParser):
    """Every tag with the names of its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, [name for name, _ in attrs]))


@pytest.mark.parametrize(
    "path",
    [
        "/atlas",
        "/atlas/card/{hostile}",
        "/environment/{hostile}",
        "/environment/{hostile}/plays",
        "/environment/{game}",
        "/environment/{game}/near",
        "/rounds",
    ],
)
def test_hostile_text_is_shown_as_text(looked: Opened, path: str) -> None:
    text = page(looked, path)
    assert "alert(" in text, "the hostile text does not stand on this page: nothing is tested"
    assert "<script>alert" not in text
    assert "<img src=x" not in text


def test_the_list_begins_with_the_greatest_regret_and_keeps_to_its_filters(looked: Opened) -> None:
    game, hostile, tools = (looked.known[name] for name in ("game", "hostile", "tools"))
    assert ids_of(page(looked, "/atlas")) == [game.id, hostile.id, tools.id]
    assert ids_of(page(looked, "/atlas", skill=tools.skills[0])) == [tools.id]
    assert ids_of(page(looked, "/atlas", status="unmeasured")) == [tools.id]
    assert "Nothing fits" in page(looked, "/atlas", skill="no such skill")
    found = page(looked, "/atlas", q=tools.title)
    assert ids_of(found)[0] == tools.id
    assert tools.id in (re.search(r'data-lit="([^"]*)"', found) or [""])[1]


def test_an_environment_says_what_it_is_and_why_it_is_sound(looked: Opened) -> None:
    text = page(looked, "/environment/{game}")
    game = looked.known["game"]
    for words in (game.title, "Its own solution wins", "solvable is well", "+0.30", "class"):
        assert words in text
    assert f'href="/environment/{looked.known["hostile"].id}"' in text, "its parent"
    assert text.index("<summary>Show the hint") < text.index(game.hint[:20])
    assert '<span class="k">def</span>' in text
    assert page(looked, f"/environment/{game.id[:8]}") == text


def test_plays_stand_side_by_side(looked: Opened) -> None:
    text = page(looked, "/environment/{game}/plays")
    assert text.index("a game unhinted") < text.index("With the hint") < text.index("a game hinted")
    assert "0.00 without, 1.00 with the hint; seed 3, version 0" in text
    assert "Nobody has played it yet" in page(looked, "/environment/{tools}/plays")
    assert page(looked, "/environment/{game}/plays", pair="9-9-9")


def test_rounds_show_where_designs_fell(looked: Opened) -> None:
    text = page(looked, "/rounds")
    assert "4 fell at “its own solution wins”" in text
    assert "1 like a known one" in text
    assert "2 of 8" in text
    shown = looked.get("/figures/rounds")
    assert [one["shard"] for one in shown] == [1, 2]
    assert shown[0]["fell"]["solvable"] == 4
    assert sorted(shown[0]["regrets"]) == [0.1, 0.3]
    assert (shown[1]["designs"], shown[1]["learnable"]) == (0, None)


def test_runs_list_the_policy_versions(looked: Opened) -> None:
    text = page(looked, "/runs")
    assert "spadework train --follow" in text
    run = looked.get("/figures/run")
    assert [one["version"] for one in run["policies"]] == [0]
    assert {"name": "designer/learnable", "steps": [1], "values": [0.5]} in run["rounds"]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/environment/ffffffff", 404, "There is no environment ffffffff"),
        ("/environment/<script>", 422, "String should match"),
        ("/play/" + "0" * 32, 404, "over and forgotten"),
        ("/static/nothing.js", 404, "no such file"),
        ("/static/..%2Fshell.py", 404, "Not"),
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(
    looked: Opened, path: str, status: int, words: str
) -> None:
    assert words in page(looked, path, status)


@pytest.mark.parametrize("path", ["/play", "/rounds/begin", "/sessions"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {**FORM, "origin": "https://evil.example"},
        {**FORM, "sec-fetch-site": "cross-site"},
        {"content-type": "application/x-www-form-urlencoded"},
    ],
)
def test_another_sites_page_can_begin_nothing(
    looked: Opened, path: str, headers: dict[str, str]
) -> None:
    before = len(looked.service.opened.ledger.books.jobs)
    body = f"rounds=1&seed=0&environment={looked.known['game'].id}"
    answer = looked.client.post(path, content=body, headers=headers)
    assert answer.status_code == 403
    assert len(looked.service.opened.ledger.books.jobs) == before


def test_a_round_is_begun_and_cancelled_from_the_page(looked: Opened) -> None:
    for wrong in ("rounds=0", "rounds=x", "rounds=101", ""):
        assert looked.client.post("/rounds/begin", content=wrong, headers=FORM).status_code == 422
    answer = looked.client.post("/rounds/begin", content="rounds=1", headers=FORM)
    assert answer.status_code == 200
    assert "Designing" in answer.text
    job = next(reversed(looked.service.opened.ledger.books.jobs))
    assert looked.client.get("/rounds/live").status_code == 200
    assert looked.client.post(f"/rounds/cancel/{job}", headers=FORM).status_code == 200
    assert looked.ended(job)["state"] == "cancelled"


def test_the_front_page_is_the_atlas(looked: Opened) -> None:
    assert looked.client.get("/").url.path == "/atlas"


def test_an_empty_store_says_what_to_do(looked: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    from envgen.service.pages.catalogue import Catalogue

    monkeypatch.setattr(Catalogue, "entries", lambda self: ())
    text = page(looked, "/atlas")
    assert "No environments yet" in text
    assert 'href="/rounds"' in text
    assert looked.get("/map")["id"] == []


def test_pages_are_for_reading_with_a_browser_and_the_api_for_programs(looked: Opened) -> None:
    client: TestClient = looked.client
    assert client.get("/environments/ffffffff").headers["content-type"] == "application/json"
    part = client.get("/environment/ffffffff/near", headers={"hx-request": "true"})
    assert part.headers["content-type"] == "application/json"


def test_what_cannot_run_is_skipped_here_and_fails_under_ci(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no browser"):
        missing("no browser: apt-get install chromium")
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception, match="no browser"):
        missing("no browser: apt-get install chromium")


def ids_of(text: str) -> list[str]:
    return re.findall(r'class="title" href="/environment/([0-9a-f]+)"', text)
