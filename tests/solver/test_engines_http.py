"""The client of the engines behind a URL, and the engine ``chat``: real sockets on loopback."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import Message
from solver.config import PolicyConfig
from solver.engines import http, open_policy
from solver.engines.chat import ChatEngine
from solver.engines.words import END, Words, encode
from solver.policy import Sampling, require_tokens
from solver.versions import Versions
from spadekit.errors import BadInput, OurFault
from spadekit.settings import Settings

SAMPLING = Sampling(0.7, 50, 2**40 + 3)
CHAT = PolicyConfig(engine="chat", model="big", timeout_s=5.0, outage_s=5.0)


def said(content: Any, finish: str = "stop") -> dict[str, Any]:
    return {
        "choices": [
            {"message": {"role": "assistant", "content": content}, "finish_reason": finish}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3},
    }


class Script:
    """Answers in the order given, after one that greets; the last one for ever."""

    def __init__(self, *answers: Any) -> None:
        self.left = deque([said("yes"), *answers])
        self.times: list[float] = []

    def __call__(self, served: Any, request: Any) -> Any:
        self.times.append(time.monotonic())
        return self.left.popleft() if len(self.left) > 1 else self.left[0]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "FIRST_PAUSE_S", 0.02)


@asynccontextmanager
async def engine(home: Path, url: str, **changes: Any) -> AsyncIterator[ChatEngine]:
    config = replace(CHAT, url=url, **changes)
    folder = Versions(home / "policy").bootstrap(config)
    async with open_policy(folder, config, lambda _: None) as policy:
        assert isinstance(policy, ChatEngine)
        yield policy


def ask(engine: ChatEngine, text: str = "hello") -> list[int]:
    return engine.chat.start([Message("system", "be brief"), Message("user", text)])


async def test_a_conversation_goes_out_as_messages_and_the_reply_comes_back_as_text(
    serve: Any, tmp_path: Path
) -> None:
    with serve(Script(said("left, then über"), said("done"))) as server:
        async with engine(tmp_path, server.url) as policy:
            ids = ask(policy)
            first = await policy.complete(ids, SAMPLING)
            assert policy.chat.decode(first.ids) == "left, then über"
            assert (first.stop, first.logprobs, first.version) == ("end", (), 0)
            ids += first.ids
            ids += policy.chat.follow([Message("tool", "nothing"), Message("user", "go on")])
            await policy.complete(ids, SAMPLING)
    bodies = [request.body for request in server.asked]
    assert bodies[1]["model"] == "big" and bodies[1]["max_tokens"] == 50
    assert bodies[2]["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "left, then über"},
        {"role": "user", "content": "nothing\n\ngo on"},
    ]


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_text_survives_the_way_through_ids(texts: list[str]) -> None:
    words = Words()
    for text in texts:
        clean = text.encode("utf-8", errors="replace").decode()
        assert words.decode(encode(text)) == clean
        assert all(number >= 0 for number in encode(text))


def test_tools_are_described_to_a_model_that_only_reads_text() -> None:
    schema = {"type": "function", "function": {"name": "find_parcel"}}
    words = Words()
    told = words.messages(words.start([Message("user", "where?")], [schema]))
    assert [one["role"] for one in told] == ["system", "user"]
    assert '"find_parcel"' in told[0]["content"] and "<tool_call>" in told[0]["content"]


@pytest.mark.parametrize(
    "failure",
    [
        {"status": 500, "value": {"error": {"message": "worker died"}}},
        {"status": 503, "value": b"<html>busy</html>"},
        {"status": 429, "value": {"error": "slow down"}},
        {"status": 200, "value": b'{"choices": [{"mess'},
        {"status": 200, "value": {"error": {"message": "the model behind is down"}}},
        None,
        {"delay_s": 1.0, "value": {}},
    ],
    ids=["500", "503", "429", "torn", "error-in-200", "hang-up", "time-out"],
)
async def test_a_failed_try_is_tried_again_and_never_becomes_a_reply(
    failure: Any, serve: Any, tmp_path: Path
) -> None:
    with serve(Script(failure, failure, said("right"))) as server:
        async with engine(tmp_path, server.url, timeout_s=0.3) as policy:
            done = await policy.complete(ask(policy), SAMPLING)
            assert policy.chat.decode(done.ids) == "right"
            assert "2 tried again" in policy.traffic()
    assert len(server.asked) == 4


@pytest.mark.parametrize("status", [429, 503])
async def test_a_rate_limit_makes_every_request_wait_as_long_as_it_says(
    status: int, serve: Any, tmp_path: Path
) -> None:
    limit = {"status": status, "value": {}, "headers": {"Retry-After": "1"}}
    script = Script(limit, said("ok"))
    with serve(script) as server:
        async with engine(tmp_path, server.url) as policy:
            first = asyncio.create_task(policy.complete(ask(policy), SAMPLING))
            await asyncio.sleep(0.3)  # it has been told to wait
            await asyncio.gather(*(policy.complete(ask(policy), SAMPLING) for _ in range(3)))
            await first
    assert min(script.times[2:]) - script.times[1] > 0.95
    assert len(script.times) == 6


def test_a_wait_is_read_as_seconds_or_as_a_date() -> None:
    assert http._retry_after("2.5") == 2.5
    assert http._retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert http._retry_after("soon") is None
    assert http._retry_after("nan") == 0.0


@pytest.mark.parametrize(
    ("tries", "most_s"), [(1, 0.02), (2, 0.04), (5, 0.32), (11, 20.0), (1025, 20.0), (10**6, 20.0)]
)
def test_pauses_double_up_to_a_bound_however_long_a_server_is_away(
    tries: int, most_s: float
) -> None:
    assert http.most_pause_s(tries) == pytest.approx(most_s)


@pytest.mark.parametrize(
    ("failure", "outage_s", "reason"),
    [
        (
            {"status": 500, "value": {"error": "broken"}},
            60.0,
            "500: broken; given up after 6 tries",
        ),
        ({"status": 429, "headers": {"Retry-After": "99"}, "value": 0}, 60.0, "after 1 tries"),
        (None, 0.5, "given up after"),
    ],
)
async def test_a_server_that_stays_broken_is_given_up_as_our_fault(
    failure: Any, outage_s: float, reason: str, serve: Any, tmp_path: Path
) -> None:
    with serve(Script(failure)) as server:
        async with engine(tmp_path, server.url, outage_s=outage_s) as policy:
            with pytest.raises(OurFault, match=reason):
                await policy.complete(ask(policy), SAMPLING)


@pytest.mark.parametrize(
    ("status", "message", "setting"),
    [
        (401, "bad key", "key_variable"),
        (404, "no such model", "model"),
        (429, "insufficient_quota: pay", "recipe"),
        (422, "temperature not supported", "recipe"),
    ],
)
async def test_what_the_endpoint_refuses_is_one_clear_line_at_the_start(
    status: int, message: str, setting: str, serve: Any, tmp_path: Path
) -> None:
    refusal = {"status": status, "value": {"error": {"message": message}}}
    refused = pytest.raises(BadInput, match=f"{message}.*{setting}")
    with serve(lambda served, request: refusal) as server, refused:
        async with engine(tmp_path, server.url):
            pass
    assert len(server.asked) == 1


async def test_a_conversation_that_is_too_long_is_an_empty_reply_of_the_policy(
    serve: Any, tmp_path: Path
) -> None:
    over = {"message": "This model's maximum context length is 8192 tokens."}
    refusal = {"status": 400, "value": {"error": over}}
    with serve(Script(refusal, said(None, "content_filter"), said("half a", "length"))) as server:
        async with engine(tmp_path, server.url) as policy:
            done = [await policy.complete(ask(policy), SAMPLING) for _ in range(3)]
    assert (done[0].ids, done[0].stop) == ((), "length")
    assert (done[1].ids, done[1].stop) == ((END,), "end")
    assert (policy.chat.decode(done[2].ids), done[2].stop) == ("half a", "length")


async def test_a_model_that_knows_the_newer_name_of_the_limit_gets_it(
    serve: Any, tmp_path: Path
) -> None:
    def reply(served: Any, request: Any) -> Any:
        if "max_tokens" in request.body:
            told = {"message": "Unsupported parameter; use max_completion_tokens instead"}
            return {"status": 400, "value": {"error": told}}
        return said("ok")

    with serve(reply) as server:
        async with engine(tmp_path, server.url) as policy:
            await policy.complete(ask(policy), SAMPLING)
    assert server.asked[-1].body["max_completion_tokens"] == 50
    assert len(server.asked) == 3


async def test_no_more_requests_are_open_than_allowed(serve: Any, tmp_path: Path) -> None:
    lock = threading.Lock()
    open_now = most = 0

    def reply(served: Any, request: Any) -> Any:
        nonlocal open_now, most
        with lock:
            open_now += 1
            most = max(most, open_now)
        time.sleep(0.03)
        with lock:
            open_now -= 1
        return said("ok")

    with serve(reply) as server:
        async with engine(tmp_path, server.url, in_flight=3) as policy:
            await asyncio.gather(*(policy.complete(ask(policy), SAMPLING) for _ in range(12)))
            assert 0.1 < policy.forward_seconds < 2.0
    assert most == 3


async def test_requests_tokens_and_cost_are_told_at_the_end(serve: Any, tmp_path: Path) -> None:
    notes: list[str] = []
    with serve(Script(said("a"))) as server:
        config = replace(CHAT, url=server.url, input_price=1000.0, output_price=10_000.0)
        folder = Versions(tmp_path).bootstrap(config)
        async with open_policy(folder, config, notes.append) as policy:
            await policy.complete(policy.chat.start([Message("user", "a")]), SAMPLING)
    assert "2 requests, 0 tried again, 20 prompt tokens, 6 sampled, cost 0.0800" in notes[-1]


async def test_the_key_is_sent_and_a_missing_one_is_refused(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(Script(said("a"))) as server:
        with pytest.raises(BadInput, match="MY_KEY"):
            async with engine(tmp_path, server.url, key_variable="MY_KEY"):
                pass
        monkeypatch.setenv("MY_KEY", "secret")
        async with engine(tmp_path, server.url, key_variable="MY_KEY"):
            pass
    assert server.asked[-1].headers["Authorization"] == "Bearer secret"


async def test_a_text_policy_is_not_trained_and_its_home_keeps_its_model(
    serve: Any, tmp_path: Path
) -> None:
    with serve(Script(said("a"))) as server:
        async with engine(tmp_path, server.url) as policy:
            with pytest.raises(BadInput, match="log-probabilities"):
                require_tokens(policy)
        with pytest.raises(BadInput, match="not of other"):
            async with engine(tmp_path, server.url, model="other"):
                pass


def test_where_the_server_is_does_not_shape_a_round_and_the_engine_does() -> None:
    def digest(**values: Any) -> str:
        return Settings({PolicyConfig: PolicyConfig(**values)}, "").digest_of(PolicyConfig)

    assert digest() == digest(url="http://other:1", in_flight=2, timeout_s=1.0)
    assert digest() != digest(engine="vllm")


@pytest.mark.parametrize("kind", ["vllm", "chat"])
async def test_an_endpoint_that_is_not_there_is_refused_at_once(
    kind: Any, model_dir: Path, tmp_path: Path
) -> None:
    config = replace(CHAT, engine=kind, model=str(model_dir), url="http://127.0.0.1:9")
    folder = Versions(tmp_path).bootstrap(config)
    with pytest.raises(BadInput, match=r"cannot be reached: http://127\.0\.0\.1:9.*policy\.url"):
        async with open_policy(folder, config, lambda _: None):
            pass


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "ftp://host", "http://"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match=r"policy\.url"):
        http.Endpoint(replace(CHAT, url=url))
