"""Workers: what travels between them and the producer."""

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen.certificate import Certificate, Check
from envgen.workers import wire
from sandbox import EnvironmentFault, JailInfo, Message, SandboxFault, Step

TOOL = {
    "type": "function",
    "function": {
        "name": "pay",
        "description": "Pay somebody.",
        "parameters": {"type": "object", "properties": {"to": {"type": "string"}}, "required": []},
    },
}
INFO = JailInfo("DeskEnv", "A desk", "Text\nwith lines", "tool_use", (TOOL,), True, 7)
CERTIFICATE = Certificate(
    *(True, (Check("source", "pass", "parses", {"bytes": 3}),), "DeskEnv", "A desk", ""),
    *("game", (), (1, 2), (3, 4), "abc", 0.25, "nsjail"),
)
STEP = Step((Message("user", 'é "quoted" \u2028'),), 0.1 + 0.2, True, False)


def test_what_a_jail_gives_arrives_as_it_was() -> None:
    assert wire.info(wire.of_info(INFO)) == INFO
    assert wire.step(wire.of_step(STEP), "game") == STEP
    assert wire.first(wire.of_first(STEP.observation), "game") == STEP.observation
    assert wire.certificate(wire.of_certificate(CERTIFICATE)) == CERTIFICATE


def test_a_fault_keeps_its_owner_on_the_way() -> None:
    with pytest.raises(EnvironmentFault) as theirs:
        wire.info(wire.of_fault(EnvironmentFault("load", "timeout", "too slow")))
    assert (theirs.value.stage, theirs.value.reason) == ("load", "timeout")
    with pytest.raises(SandboxFault, match="the jail has ended"):
        wire.step(wire.of_fault(SandboxFault("the jail has ended")), "game")


@given(st.binary(max_size=200) | st.text(max_size=80).map(str.encode))
def test_bytes_that_are_no_frame_are_a_fault_of_ours(data: bytes) -> None:
    for read in (wire.certificate, wire.info):
        with pytest.raises(SandboxFault):
            read(data)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": "info"},
        {"kind": "step", "obs": [["user", "x"]], "reward": True, "terminated": 0, "truncated": 0},
        {"kind": "step", "obs": [["system", "x"]], "reward": 0, "terminated": True},
        {"kind": "fault", "stage": "nowhere", "reason": "timeout", "detail": ""},
        {"kind": "fault", "stage": [], "reason": "timeout", "detail": ""},
        {"kind": "trouble"},
    ],
)
def test_a_frame_that_is_not_what_was_asked_for_is_a_fault_of_ours(body: object) -> None:
    with pytest.raises(SandboxFault, match="cannot be read"):
        wire.step(json.dumps(body).encode(), "game")


def test_nothing_is_unpickled_and_nothing_too_large_or_too_deep_is_read() -> None:
    frame = wire.of_step(STEP)
    for data in (
        pickle.dumps(STEP),
        frame.replace(b"0.30000000000000004", b"NaN"),
        frame.replace(b"0.30000000000000004", b"1e999"),
        b"[" * 100_000,
        wire.of_first((Message("user", "x" * wire.MOST),)),
        frame.decode(),
        None,
    ):
        with pytest.raises(SandboxFault, match="cannot be read"):
            wire.step(data, "game")  # type: ignore[arg-type]
