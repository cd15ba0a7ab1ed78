"""What goes back from a worker on another machine to the producer: JSON frames, parsed as hostile data.

A frame is what the jail's own protocol has in the same place, plus its ``kind``, and the same parser
reads it again with the same limits. Nothing that a program in a jail made travels in any other form: Ray
pickles arguments and replies, but a reply is plain bytes.
"""

import dataclasses
import json
from typing import Any

from envgen.certificate import Certificate
from sandbox import EnvironmentFault, JailInfo, Observation, SandboxFault, Step, protocol
from sandbox.contract import Setting

MOST = 4 * 2**20
"""Bytes of a frame: far above a certificate with all its evidence, or the largest frame of a jail."""


def of_certificate(certificate: Certificate) -> bytes:
    """Return the frame of a certificate."""
    return _frame("certificate", text=certificate.as_json())


def of_info(info: JailInfo) -> bytes:
    """Return the frame of a loaded source."""
    return _frame("info", **dataclasses.asdict(info))


def of_first(observation: Observation) -> bytes:
    """Return the frame of an episode that was begun."""
    return _frame("first", obs=_messages(observation))


def of_step(step: Step) -> bytes:
    """Return the frame of a step."""
    return _frame(
        "step",
        obs=_messages(step.observation),
        reward=step.reward,
        terminated=step.terminated,
        truncated=step.truncated,
    )


def of_fault(fault: EnvironmentFault | SandboxFault) -> bytes:
    """Return the frame of a fault, the environment's or ours."""
    if isinstance(fault, EnvironmentFault):
        return _frame("fault", stage=fault.stage, reason=fault.reason, detail=fault.detail)
    return _frame("trouble", detail=str(fault))


def certificate(data: bytes) -> Certificate:
    """Read a certificate. Every reader raises the fault that the frame tells of, ``SandboxFault`` for a
    frame that is none."""
    body = _body(data, "certificate")
    try:
        return Certificate.from_json(body["text"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _broken(error) from None


def info(data: bytes) -> JailInfo:
    """Read what a loaded source says of itself."""
    body = _body(data, "info")
    try:
        return protocol.info(body)
    except (protocol.Malformed, protocol.Breach) as error:
        raise _broken(error) from None


def first(data: bytes, setting: Setting) -> Observation:
    """Read the observation after reset."""
    body = _body(data, "first")
    try:
        return protocol.observation(body.get("obs"), setting, True)
    except (protocol.Malformed, protocol.Breach) as error:
        raise _broken(error) from None


def step(data: bytes, setting: Setting) -> Step:
    """Read what an action led to."""
    body = _body(data, "step")
    try:
        return protocol.step(body, setting)
    except (protocol.Malformed, protocol.Breach) as error:
        raise _broken(error) from None


def _frame(kind: str, **body: Any) -> bytes:
    return json.dumps({"kind": kind, **body}).encode()


def _messages(observation: Observation) -> list[list[str]]:
    return [[message.role, message.content] for message in observation]


def _body(data: bytes, kind: str) -> protocol.Frame:
    """Return the body of a frame of a kind. Raises the fault that stands in its place."""
    if type(data) is not bytes or len(data) > MOST:
        raise _broken(f"more than {MOST} bytes, or none")
    try:
        body = protocol.parse(data)
        found = body.pop("kind")
        if found == "fault":
            raise EnvironmentFault(body["stage"], body["reason"], body["detail"])
        if found == "trouble":
            raise SandboxFault(body["detail"])
    except (protocol.Malformed, KeyError, ValueError, TypeError, AttributeError) as error:
        raise _broken(error) from None
    if found != kind:
        raise _broken(f"{kind} was asked for")
    return body


def _broken(why: object) -> SandboxFault:
    return SandboxFault(f"a worker's answer cannot be read ({why})")
