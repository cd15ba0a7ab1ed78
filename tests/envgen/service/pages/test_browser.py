"""The pages in a real browser: Debian's Chromium, or the one that ``playwright install chromium`` brings.

Skipped, with the reason, where there is none; with the variable ``CI`` set they fail instead.
"""

import math
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import pytest
import uvicorn

from envgen.service.app import make_app

from ..conftest import CHANGES
from .conftest import Opened, missing

if find_spec("playwright") is None or find_spec("axe_playwright_python") is None:
    missing("no playwright or no axe-playwright-python: pip install -e '.[dev]'")
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

SLOW_MS = 120_000
"""A machine that does other work as well takes its time; nothing here measures speed."""
WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
LOUD = ("error", "warning")
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def site(looked: Opened) -> Iterator[str]:
    """The address of the service on a real socket."""
    # An application of its own: plays belong to one event loop, and the other tests have theirs.
    config = uvicorn.Config(make_app(looked.service), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        try:
            # As root Chromium's own sandbox cannot start; it sees nothing but our own pages.
            opened = playwright.chromium.launch(
                executable_path=path, args=["--no-sandbox"], timeout=SLOW_MS
            )
        except Error as error:
            missing(f"no browser: apt-get install chromium ({str(error).splitlines()[0]})")
        yield opened
        opened.close()


def opened(browser: Browser, width: int = 1280, scheme: Any = "light", **more: Any) -> Page:
    """Return a page that notes what it must not do."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, **more
    )
    page = context.new_page()
    page.set_default_timeout(SLOW_MS)
    expect.set_options(timeout=SLOW_MS)
    return page


def begun(page: Page, site: str, environment: str) -> str:
    """Begin a play of an environment and return the path of its page."""
    body = {"environment": environment, "seed": 0}
    answer = page.request.post(f"{site}/sessions", data=body, headers=CHANGES, timeout=SLOW_MS)
    assert answer.status == 201, answer.text()
    return f"/play/{answer.json()['id']}"


@contextmanager
def paths(looked: Opened, page: Page, site: str) -> Iterator[dict[str, str]]:
    """Give the path of every page while its plays are open: by text, by offered moves, by tools, over."""
    known = {name: one.id for name, one in looked.known.items()}
    plays = {
        "play text": begun(page, site, known["game"]),
        "play moves": begun(page, site, known["hostile"]),
        "play tools": begun(page, site, known["tools"]),
        "play over": begun(page, site, known["game"]),
    }

    def leave(path: str) -> None:
        name = path.rpartition("/")[2]
        page.request.post(f"{site}/sessions/{name}/leave", headers=CHANGES, timeout=SLOW_MS)

    leave(plays["play over"])
    try:
        yield {
            "atlas": "/atlas",
            "environment": f"/environment/{known['game']}",
            "hostile": f"/environment/{known['hostile']}",
            "rounds": "/rounds",
            "runs": "/runs",
            **plays,
        }
    finally:
        for path in plays.values():
            leave(path)


def arrived(page: Page, name: str) -> None:
    """Wait until a page has drawn what it draws later."""
    if name == "atlas":
        expect(page.locator("#over")).to_be_hidden()
    elif name in ("environment", "hostile"):
        expect(page.locator("#plays select")).to_be_visible()
        if name == "environment":
            expect(page.locator("#standings .main-svg").first).to_be_visible()
    elif name.startswith("play"):
        marks = {"text": "form.act", "moves": ".offers button", "tools": ".tool", "over": ".ended"}
        expect(page.locator(marks[name.removeprefix("play ")]).first).to_be_visible()
    else:
        expect(page.locator(".chart .main-svg").first).to_be_visible()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_pages_are_quiet_keep_to_their_host_and_to_their_width(
    looked: Opened, site: str, browser: Browser, width: int, scheme: str
) -> None:
    page = opened(browser, width, scheme)
    noise: list[str] = []
    page.on("console", lambda told: noise.append(told.text) if told.type in LOUD else None)
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("dialog", lambda dialog: (noise.append(dialog.message), dialog.dismiss()))
    ours = (site, "data:", "blob:")
    page.on("request", lambda one: None if one.url.startswith(ours) else noise.append(one.url))
    with paths(looked, page, site) as every:
        for name, path in every.items():
            page.goto(site + path)
            arrived(page, name)
            assert noise == [], name
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} px wide"
            paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, paper[4:-1].split(","))) > 380) == (scheme == "light")
    page.context.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_serious(
    looked: Opened, site: str, browser: Browser, width: int, scheme: str
) -> None:
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    # The policy of our pages would keep this script out, too.
    page = opened(browser, width, scheme, bypass_csp=True, reduced_motion="reduce")
    with paths(looked, page, site) as every:
        for name, path in every.items():
            page.goto(site + path)
            arrived(page, name)
            page.add_script_tag(content=axe)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            serious = [
                (one["id"], [node["html"][:200] for node in one["nodes"]])
                for one in found["violations"]
                if one["impact"] in ("serious", "critical")
            ]
            assert serious == [], name
    page.context.close()


def test_a_newcomer_finds_reads_and_plays_with_the_keyboard_alone(
    looked: Opened, site: str, browser: Browser
) -> None:
    game = looked.known["game"]
    page = opened(browser)
    page.goto(f"{site}/atlas")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#skill")).to_be_focused()
    page.keyboard.type(game.skills[0].replace("_", " "))
    expect(page.locator("#found")).to_contain_text("greatest regret first")
    first = page.locator("#found a.title").first
    expect(first).to_have_text(game.title)
    for _ in range(12):
        page.keyboard.press("Tab")
        if first.evaluate("node => node === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Why it is sound")).to_be_visible()
    expect(page.locator(".checks")).to_contain_text("Its own solution wins")
    page.get_by_role("button", name="Play it").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Turn 1")).to_be_visible()
    page.get_by_label("Your action").focus()
    page.keyboard.type("no idea")
    page.keyboard.press("Enter")
    expect(page.locator(".talk .assistant")).to_contain_text("no idea")
    page.context.close()


def test_search_lights_up_the_map_and_the_theme_is_kept(
    looked: Opened, site: str, browser: Browser
) -> None:
    page = opened(browser)
    page.goto(f"{site}/atlas")
    arrived(page, "atlas")
    page.locator("#q").press_sequentially(looked.known["tools"].title)
    lit = re.compile(looked.known["tools"].id)
    expect(page.locator("#found")).to_have_attribute("data-lit", lit)
    expect(page.locator("#found a.title").first).to_have_text(looked.known["tools"].title)
    page.locator("#map").focus()
    page.keyboard.press("n")
    expect(page.locator("#tip")).to_contain_text(looked.known["tools"].title)
    page.get_by_role("button", name="Dark mode").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.context.close()


def focused(page: Page) -> str:
    """Return what has the focus: its text, or the name of its field."""
    script = "(document.activeElement.textContent || document.activeElement.name || '').trim()"
    return str(page.evaluate(script))


def tabbed(page: Page, most: int) -> list[str]:
    """Press Tab until the page is through, and return what had the focus."""
    found: list[str] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        found.append(focused(page))
    return found


def test_offered_moves_and_forms_of_tools_are_played_with_the_keyboard(
    looked: Opened, site: str, browser: Browser
) -> None:
    page = opened(browser)
    with paths(looked, page, site) as every:
        page.goto(site + every["play moves"])
        arrived(page, "play moves")
        expect(page.get_by_label("Your action")).to_be_focused()
        offered = page.locator(".offers button").all_inner_texts()
        assert {"forward", "left", "right"} <= set(offered)
        page.evaluate("document.getElementById('main').focus()")
        reached = tabbed(page, len(offered) + 5)
        assert set(offered) | {"text", "Play", "Show the hint"} <= set(reached)
        page.get_by_text("Show the hint").click()
        page.get_by_role("button", name="forward", exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.locator(".talk .assistant")).to_contain_text("forward")
        expect(page.locator("#hint .said")).to_be_visible()  # it stays open
        expect(page.locator("#heard")).not_to_be_empty()
        expect(page.locator(".offers button").first).to_be_focused()

        page.goto(site + every["play tools"])
        arrived(page, "play tools")
        expect(page.locator("details.tool label input").first).to_be_focused()
        page.evaluate("document.getElementById('main').focus()")
        reached = tabbed(page, 16)
        fields = page.locator(".tool [name]:not([type=hidden])").all()
        assert {one.get_attribute("name") for one in fields} <= set(reached)
        assert set(page.locator(".tool button").all_inner_texts()) <= set(reached)
        with_field = page.locator("details.tool", has=page.locator("label")).first
        field, name = with_field.locator("label input").first, with_field.locator("summary .mono")
        called = name.inner_text()
        field.focus()
        page.keyboard.type("1")
        page.keyboard.press("Enter")
        expect(page.locator(".talk .assistant")).to_contain_text(f"{called}(")
        expect(page.locator("details.tool label input").first).to_be_focused()
    page.context.close()


def test_pointing_at_the_map_draws_nothing_and_moving_it_draws_each_point_once_a_frame(
    looked: Opened, site: str, browser: Browser
) -> None:
    page = opened(browser)
    page.add_init_script(
        """(() => {
          window.copies = 0;
          const kind = CanvasRenderingContext2D.prototype, own = kind.drawImage;
          kind.drawImage = function (...all) { window.copies += 1; return own.apply(this, all); };
        })()"""
    )
    page.goto(f"{site}/atlas")
    arrived(page, "atlas")
    page.wait_for_function("copies > 0")
    # What was asked for is drawn with the next frame.
    count = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(copies), 0)))"
    drawn, ring = page.evaluate(count), page.locator("#ring")
    page.locator("#map").focus()
    spots = []
    for _ in looked.known:
        page.keyboard.press("n")
        expect(ring).to_be_visible()
        box = ring.bounding_box()
        assert box
        spots.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    assert len(set(spots)) == len(looked.known)
    page.keyboard.press("Escape")
    expect(ring).to_be_hidden()
    area = page.locator("#map").bounding_box()
    assert area
    middle = (area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    for spot in spots:
        page.mouse.move(*spot)
        expect(ring).to_be_visible()
        # inwards: the points reach to the edges, and beyond them the ring stays where the keys left it
        page.mouse.move(
            *(at + math.copysign(40, to - at) for at, to in zip(spot, middle, strict=True))
        )
        expect(ring).to_be_hidden()
    assert page.evaluate(count) == drawn
    # Keys that come between two frames are one drawing.
    page.evaluate(
        """["ArrowLeft", "ArrowUp", "-"].forEach((key) =>
          document.getElementById("map").dispatchEvent(new KeyboardEvent("keydown", { key })))"""
    )
    assert page.evaluate(count) - drawn == len(looked.known)
    page.context.close()
