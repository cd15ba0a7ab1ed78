"""Tool calls in a reply: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>`` (Hermes)."""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

Malformation = Literal["unclosed", "json", "shape"]

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_CALL = re.compile(f"{_OPEN}(.*?)(?:{_CLOSE}|(?={_OPEN})|$)", re.DOTALL)


@dataclass(frozen=True)
class Call:
    """One well-formed call; whether its tool and arguments exist is the environment's to say."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Malformed:
    """A fault of the policy: a call that cannot be read. It costs the turn; nothing is executed."""

    kind: Malformation
    detail: str


@dataclass(frozen=True)
class Reply:
    """A reply taken apart: its text outside the calls, the calls, and what could not be read."""

    content: str
    calls: tuple[Call, ...]
    malformed: tuple[Malformed, ...]

    def action(self) -> str:
        """The JSON action that a tool-use environment receives."""
        calls = [{"name": call.name, "arguments": call.arguments} for call in self.calls]
        return json.dumps({"content": self.content, "tool_calls": calls})


def parse(text: str) -> Reply:
    """Take a reply apart. Never raises: whatever is wrong with a call is in ``malformed``."""
    calls: list[Call] = []
    malformed: list[Malformed] = []
    for match in _CALL.finditer(text):
        if not match.group(0).endswith(_CLOSE):
            malformed.append(Malformed("unclosed", f"a {_OPEN} without {_CLOSE}"))
            continue
        read = _read(match.group(1))
        if isinstance(read, Call):
            calls.append(read)
        else:
            malformed.append(read)
    content = _CALL.sub("", text).replace(_CLOSE, "").strip()
    return Reply(content, tuple(calls), tuple(malformed))


def _read(body: str) -> Call | Malformed:
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Malformed("json", f"not JSON: {error}"[:200])
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return Malformed("shape", 'a call must be an object with a string "name"')
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict):
        return Malformed("shape", '"arguments" must be an object')
    return Call(value["name"], arguments)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
