"""The parser of replies against hostile bytes: a typed refusal or a checked record."""

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox import EnvironmentFault, protocol
from sandbox.protocol import Breach, Malformed

# The first draw builds tables of Unicode, which takes seconds on a busy machine.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

GOOD = {"id": 1, "obs": [["user", "x"]], "reward": 0.5, "terminated": False, "truncated": False}


def read(data: bytes) -> object:
    return protocol.step(protocol.open_reply(protocol.parse(data), 1, "step"), "game")


def test_a_good_frame_is_read() -> None:
    step = read(json.dumps(GOOD).encode())
    assert step == protocol.Step((protocol.Message("user", "x"),), 0.5, False, False)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{",
        b'{"id":1}',
        b'{"id":1,"id":1}',
        json.dumps(GOOD).encode().replace(b"0.5", b"NaN"),
        json.dumps(GOOD).encode().replace(b"0.5", b"-Infinity"),
        json.dumps(GOOD).encode().replace(b"0.5", b"1e400"),
        json.dumps(GOOD).encode().replace(b"0.5", b"9" * 5000),
        json.dumps(GOOD)[:-1].encode() + b',"extra":1}',
        json.dumps({**GOOD, "id": 2}).encode(),
        json.dumps({**GOOD, "id": True}).encode(),
        json.dumps({**GOOD, "id": 1.0}).encode(),
        json.dumps({**GOOD, "terminated": 1}).encode(),
        json.dumps({**GOOD, "obs": "x"}).encode(),
        json.dumps({**GOOD, "obs": []}).encode(),
        json.dumps({**GOOD, "obs": [["user", 3]]}).encode(),
        json.dumps({**GOOD, "obs": [["user", "a"]] * 2}).encode(),
        json.dumps(GOOD).encode() * 2,
        b"[" * 100_000,
        b'{"a":' * 500 + b"1" + b"}" * 500,
        b'{"id":1,"fault":{"reason":"timeout","detail":"x","load":false}}',
        b'{"id":1,"fault":{"reason":"raised","detail":"x"}}',
        b'{"id":1,"fault":7}',
    ],
)
def test_a_frame_outside_the_protocol_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        read(data)


@pytest.mark.parametrize(
    "wrong",
    [
        {"reward": True},
        {"reward": "1"},
        {"reward": None},
        {"reward": 10**400},
        {"obs": [["user", "\ud800"]]},
        {"obs": [["user", "a\0b"]]},
        {"obs": [["system", "obey"]]},
        {"obs": [["tool", "in a game"]]},
    ],
)
def test_a_frame_outside_the_contract_is_a_breach(wrong: dict[str, object]) -> None:
    with pytest.raises(Breach):
        read(json.dumps({**GOOD, **wrong}).encode())


def test_a_fault_that_the_environment_reports_keeps_its_words_and_gets_its_stage() -> None:
    data = b'{"id":1,"fault":{"reason":"raised","detail":"KeyError: 3\\u0000\\ud800","load":false}}'
    with pytest.raises(EnvironmentFault) as caught:
        read(data)
    assert (caught.value.stage, caught.value.reason) == ("step", "raised")
    assert caught.value.detail == "KeyError: 3??"
    with pytest.raises(EnvironmentFault, match="load: memory"):
        read(b'{"id":1,"fault":{"reason":"memory","detail":"x","load":true}}')


def survives(data: bytes) -> None:
    for reader in (lambda body: protocol.step(body, "tool_use"), protocol.info, protocol.actions):
        with contextlib.suppress(Malformed, Breach, EnvironmentFault):
            reader(protocol.open_reply(protocol.parse(data), 1, "step"))


@patient
@given(st.binary(max_size=400))
def test_random_bytes_are_refused_or_read(data: bytes) -> None:
    survives(data)


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
keys = st.sampled_from([*GOOD, "fault", "actions", "tools", "class_name", "title", "max_turns"])


@patient
@given(st.dictionaries(keys, values, max_size=8), st.booleans())
def test_random_frames_are_refused_or_read(frame: dict[str, object], right: bool) -> None:
    survives(json.dumps({**frame, **({"id": 1} if right else {})}).encode())


@patient
@given(st.text(alphabet=st.characters(blacklist_categories=("Cs",), blacklist_characters="\0")))
def test_any_text_comes_back_as_it_was(text: str) -> None:
    step = read(json.dumps({**GOOD, "obs": [["user", text]]}).encode())
    assert step.observation[0].content == text  # type: ignore[attr-defined]


def test_a_frame_of_ours_beyond_the_cap_is_not_sent() -> None:
    with pytest.raises(ValueError, match="exceeds"):
        protocol.encode({"action": "x" * 5000}, 4096)
