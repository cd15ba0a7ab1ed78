"""Plays by hand: real jails, bounded in number and time, through the pages and through the API."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from envgen.seeds import load
from envgen.service.pages import sessions as module
from envgen.service.pages.sessions import Full, Sessions, action_of
from sandbox import EnvironmentFault, SandboxConfig
from spadekit.errors import BadInput

from ..conftest import CHANGES
from .conftest import Opened
from .test_pages import FORM

GAME = next(seed for seed in load() if seed.setting == "game")
HUNG = """
class HangEnv:
    "It never answers."
    def reset(self, seed=None):
        return "Say <b>left</b> or right.", {}
    def step(self, action):
        while True:
            pass
"""
ECHO = """
class EchoEnv:
    "It says what it got."
    def reset(self, seed=None):
        self.turn = 0
        return "Actions: left, right", {}
    def step(self, action):
        self.turn += 1
        return f"got {action}", 1.0 if action == "\\\\boxed{right}" else 0.0, self.turn >= 3, False, {}
"""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def playing(play: Callable[[Sessions, Clock], Awaitable[None]], **config: Any) -> None:
    async def run() -> None:
        clock = Clock()
        sessions = Sessions(SandboxConfig(**config), clock)
        try:
            await play(sessions, clock)
        finally:
            await sessions.close()

    asyncio.run(run())


def test_a_play_is_won_with_boxed_answers_and_offers_what_the_text_offers() -> None:
    async def play(sessions: Sessions, _: Clock) -> None:
        one = await sessions.start("e", "t", ECHO, "", 0)
        assert one.offered == ("left", "right")
        for text in ("left", "\\boxed{left}", "right"):
            await sessions.act(one, *action_of(one.info, text))
        heard = [said.content for said in one.said if said.role != "assistant"]
        assert heard[1:] == ["got \\boxed{left}", "got \\boxed{left}", "got \\boxed{right}"]
        assert (one.ended, one.result, one.turns) == ("won", 1.0, 3)
        with pytest.raises(BadInput, match="over"):
            await sessions.act(one, *action_of(one.info, "right"))
        assert sessions.open == []

    playing(play)


def test_an_environment_that_hangs_ends_its_own_play_only() -> None:
    async def play(sessions: Sessions, _: Clock) -> None:
        hung, well = [await sessions.start("e", "t", source, "", 0) for source in (HUNG, ECHO)]
        await sessions.act(hung, *action_of(hung.info, "left"))
        assert (hung.ended, hung.result) == ("fault", None)
        assert "timeout" in hung.fault
        await sessions.act(well, *action_of(well.info, "left"))
        assert not well.ended

    playing(play, step_s=2.0)


def test_plays_are_bounded_in_number_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)

    async def play(sessions: Sessions, clock: Clock) -> None:
        first = await sessions.start("e", "t", ECHO, "", 0)
        clock.now = 5.0
        second = await sessions.start("e", "t", ECHO, "", 0)
        with pytest.raises(Full):
            await sessions.start("e", "t", ECHO, "", 0)
        clock.now = module.MAY_GO_S + 1  # only the first is untouched for long enough
        third = await sessions.start("e", "t", ECHO, "", 0)
        assert (first.ended, second.ended, third.ended) == ("idle", "", "")
        clock.now += module.IDLE_S + 1
        await sessions.sweep()
        assert {second.ended, third.ended} == {"idle"}

    playing(play)


def test_a_source_that_does_not_load_leaves_nothing_behind() -> None:
    async def play(sessions: Sessions, _: Clock) -> None:
        with pytest.raises(EnvironmentFault):
            await sessions.start("e", "t", "class", "", 0)
        assert sessions.open == []

    playing(play)


def test_an_environment_is_played_in_the_browser(looked: Opened) -> None:
    started = post(looked, "/play", environment=looked.known["game"].id, seed="7")
    address = started.headers["hx-redirect"]
    text = looked.client.get(address).text
    assert "Turn 1" in text
    assert "seed 7" in text
    answer = post(looked, f"{address}/act", text="<script>alert(1)</script>")
    assert "Turn 2" in answer.text or "Once more" in answer.text
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert" in answer.text
    assert post(looked, f"{address}/act", status=422, text=" ").json()["detail"]
    left = post(looked, f"{address}/leave")
    assert "Once more" in left.text
    assert (
        post(looked, f"{address}/act", status=422, text="on").json()["detail"]
        == "this play is over"
    )


def test_a_tool_is_called_by_a_form_made_from_its_schema(looked: Opened) -> None:
    address = post(looked, "/play", environment=looked.known["tools"].id, seed="0").headers[
        "hx-redirect"
    ]
    text = looked.client.get(address).text
    shown = looked.get(f"/sessions/{address.rpartition('/')[2]}")
    tool = shown["tools"][0]["function"]
    assert f"Call {tool['name']}" in text
    fields = dict.fromkeys(tool["parameters"]["properties"], "1")
    for name in fields:
        assert f'name="argument.{name}"' in text
    sent = {f"argument.{name}": value for name, value in fields.items()}
    answer = post(looked, f"{address}/act", tool=tool["name"], **sent)
    assert f"{tool['name']}(" in answer.text
    post(looked, f"{address}/act", status=422, tool="no_such_tool")
    post(looked, f"{address}/leave")


def test_the_api_plays_too(looked: Opened) -> None:
    game = looked.known["game"]
    body = {"environment": game.id, "seed": 1}
    begun = looked.client.post("/sessions", json=body, headers=CHANGES)
    assert begun.status_code == 201
    name = begun.json()["id"]
    acted = looked.client.post(f"/sessions/{name}/acts", json={"text": "x"}, headers=CHANGES)
    assert acted.status_code == 200
    assert acted.json()["turns"] == 1
    assert acted.json() == looked.get(f"/sessions/{name}") | {"left_s": acted.json()["left_s"]}
    left = looked.client.post(f"/sessions/{name}/leave", headers=CHANGES).json()
    assert (left["over"], left["ended"]) == (True, "left")
    missing = {"environment": "f" * 20}
    assert looked.client.post("/sessions", json=missing, headers=CHANGES).status_code == 404


def post(looked: Opened, path: str, status: int = 200, **fields: str) -> Any:
    answer = looked.client.post(path, content=urlencode(fields), headers=FORM)
    assert answer.status_code == status, answer.text
    return answer


def test_calls_are_json_that_the_environment_can_read() -> None:
    async def play(sessions: Sessions, _: Clock) -> None:
        tool = next(seed for seed in load() if seed.setting == "tool_use")
        one = await sessions.start("e", "t", tool.source, "", 0)
        name = one.info.tools[0]["function"]["name"]
        action, shown = module.call_of(one.info, name, {"a": "é"})
        assert json.loads(action)["tool_calls"] == [{"name": name, "arguments": {"a": "é"}}]
        assert shown.startswith(f"{name}(a=")
        with pytest.raises(BadInput):
            module.call_of(one.info, "nothing", {})

    playing(play)
