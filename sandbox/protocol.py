"""The parser of what comes out of a jail: hostile bytes to checked records, or a typed fault.

A frame is one JSON object in UTF-8, at most ``cap`` bytes. Everything the format leaves open is
closed here: duplicate keys, NaN and infinities, numbers too large for a double, lone surrogates,
NUL characters, nesting beyond ``MAX_DEPTH``, keys that are not expected.
"""

import json
import math
from collections.abc import Callable
from json import scanner
from typing import Any, Final, NoReturn

from sandbox import schema
from sandbox.contract import JailInfo, Message, Observation, Setting, Step
from sandbox.faults import EnvironmentFault, printable

Frame = dict[str, Any]

MAX_DEPTH: Final = 32
MAX_MESSAGES: Final = 256
MAX_ACTIONS: Final = 1_024
TITLE_CHARS: Final = 200

# What the program inside may claim about the environment; the rest only the host can see.
_CLAIMS: Final = ("memory", "contract", "oversize", "raised")


class Malformed(Exception):
    """A frame broke the protocol; callers turn this into a fault with their stage."""


class Breach(Exception):
    """A well-formed frame broke the environment contract; callers add the stage."""


def encode(frame: Frame, cap: int) -> bytes:
    """Return the bytes of a frame of ours; raises ``ValueError`` above ``cap`` bytes."""
    data = _ENCODER.encode(frame).encode()
    if len(data) > cap:
        raise ValueError(f"frame of {len(data)} bytes exceeds the cap of {cap}")
    return data


def parse(data: bytes) -> Frame:
    """Parse one frame strictly; raises ``Malformed``."""
    try:
        decoded = data.decode("utf-8")
        value, end = _SCAN(decoded, 0)
    except Malformed:
        raise
    except StopIteration:
        raise Malformed("the frame is not JSON") from None
    except RecursionError:
        raise Malformed("the frame is nested too deeply") from None
    except ValueError as error:
        raise Malformed(f"the frame is not JSON ({error})"[:160]) from None
    if type(value) is not dict or end != len(decoded):
        raise Malformed("the frame is not one JSON object")
    # Every level opens a bracket, so the common frame need not be walked through.
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _too_deep(value):
        raise Malformed("the frame is nested too deeply")
    return value


def open_reply(frame: Frame, request: int, stage: str) -> Frame:
    """Check that ``frame`` answers ``request`` and return its body.

    Raises ``Malformed`` for another request's frame and ``EnvironmentFault`` when the program
    inside reports one.
    """
    if type(frame.get("id")) is not int or frame["id"] != request:
        raise Malformed("the frame answers another request")
    if "fault" not in frame:
        return {key: value for key, value in frame.items() if key != "id"}
    fault = frame["fault"]
    if set(frame) != {"id", "fault"} or type(fault) is not dict or set(fault) != _FAULT_KEYS:
        raise Malformed("the fault frame has unexpected keys")
    reason, detail, at_load = fault["reason"], fault["detail"], fault["load"]
    if reason not in _CLAIMS or type(detail) is not str or type(at_load) is not bool:
        raise Malformed("the fault frame has unexpected values")
    raise EnvironmentFault("load" if at_load else stage, reason, clean(detail))


def observation(value: Any, setting: Setting, first: bool) -> Observation:
    """Check an observation, ``first`` the one after reset; raises ``Malformed`` or ``Breach``."""
    if type(value) is not list or len(value) > MAX_MESSAGES:
        raise Malformed("the observation is not a short list of messages")
    messages = []
    for item in value:
        if type(item) is not list or len(item) != 2:
            raise Malformed("a message is not a pair of role and content")
        role, content = item
        if role not in ("user", "tool") or (role == "tool" and setting == "game"):
            raise Breach(f"a message has the role {str(role)[:20]!r}")
        messages.append(Message(role, text(content, "an observation")))
    if setting == "game" and len(messages) != 1:
        raise Malformed("a game's observation is not one message")
    if first and not messages:
        raise Breach("the first observation is empty: ask() for something in build()")
    return tuple(messages)


def step(body: Frame, setting: Setting) -> Step:
    """Check the body of a step's reply; raises ``Malformed`` or ``Breach``."""
    _expect(body, _STEP_KEYS)
    terminated, truncated = body["terminated"], body["truncated"]
    if type(terminated) is not bool or type(truncated) is not bool:
        raise Malformed("terminated and truncated must be booleans")
    return Step(
        observation(body["obs"], setting, False), number(body["reward"]), terminated, truncated
    )


def actions(body: Frame) -> list[str]:
    """Check the body of a solution's reply; raises ``Malformed`` or ``Breach``."""
    _expect(body, {"actions"})
    value = body["actions"]
    if type(value) is not list or len(value) > MAX_ACTIONS:
        raise Breach(f"solution() must give at most {MAX_ACTIONS} actions")
    return [text(item, "an action of solution()") for item in value]


def info(body: Frame) -> JailInfo:
    """Check the description of a loaded source; raises ``Malformed`` or ``Breach``."""
    _expect(body, _INFO_KEYS)
    setting, tools, turns = body["setting"], body["tools"], body["max_turns"]
    if setting not in ("game", "tool_use") or type(body["has_solution"]) is not bool:
        raise Malformed("the description has unexpected values")
    if type(tools) is not list:
        raise Malformed("the tools are not a list")
    _check_texts(tools)
    if wrong := schema.flaw(tools):
        raise Breach(wrong)
    if turns is not None and (type(turns) is not int or not 0 < turns <= 100_000):
        raise Malformed("max_turns is not a positive whole number")
    name = text(body["class_name"], "the class name")
    if not name.isidentifier() or len(name) > TITLE_CHARS:
        raise Breach("the class name is not a name")
    return JailInfo(
        class_name=name,
        title=printable(text(body["title"], "the title"))[:TITLE_CHARS],
        description=text(body["description"], "the description"),
        setting=setting,
        tools=tuple(tools),
        has_solution=body["has_solution"],
        max_turns=turns,
    )


def number(value: Any) -> float:
    """Return a finite float; raises ``Malformed`` or ``Breach``. Booleans are not numbers.

    JSON has no word for an infinity, so a float that is one was written as a literal like 1e400.
    """
    if type(value) not in (int, float):
        raise Breach(f"the reward is of type {type(value).__name__}, not a number")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if type(value) is float and not math.isfinite(result):
        raise Malformed("a number is too large")
    if not math.isfinite(result):
        raise Breach("the reward is not finite")
    return result


def text(value: Any, what: str) -> str:
    """Return a string that can be stored and printed; raises ``Malformed`` or ``Breach``."""
    if type(value) is not str:
        raise Malformed(f"{what} is not text")
    if "\0" in value:
        raise Breach(f"{what} holds a NUL character")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Breach(f"{what} holds a lone surrogate, which is not text") from None
    return value


def clean(value: str) -> str:
    """Make hostile text of a fault's detail printable."""
    return value.encode("utf-8", "replace").decode().replace("\0", "?")


def _check_texts(value: Any) -> None:
    if type(value) is str:
        text(value, "a tool's schema")
    elif type(value) is float:
        number(value)
    elif type(value) is list:
        for item in value:
            _check_texts(item)
    elif type(value) is dict:
        for key, item in value.items():
            text(key, "a tool's schema")
            _check_texts(item)


def _expect(body: Frame, keys: set[str]) -> None:
    if set(body) != keys:
        raise Malformed("the frame has unexpected keys")


def _too_deep(value: Any, left: int = MAX_DEPTH) -> bool:
    if type(value) is dict:
        return left == 0 or any(_too_deep(item, left - 1) for item in value.values())
    if type(value) is list:
        return left == 0 or any(_too_deep(item, left - 1) for item in value)
    return False


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Malformed("an object has a key twice")
    return value


def _no_constant(name: str) -> NoReturn:
    raise Malformed(f"{name} is not a number of JSON")


_FAULT_KEYS: Final = {"reason", "detail", "load"}
_STEP_KEYS: Final = {"obs", "reward", "terminated", "truncated"}
_INFO_KEYS: Final = {
    "class_name",
    "title",
    "description",
    "setting",
    "tools",
    "has_solution",
    "max_turns",
}
_HOOK: Callable[[list[tuple[str, Any]]], dict[str, Any]] = _unique
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_DECODER: Any = json.JSONDecoder(object_pairs_hook=_HOOK, parse_constant=_no_constant)
_SCAN: Final = scanner.make_scanner(_DECODER)
