"""Tool calls in a reply, in the dialects that chat models are taught.

``hermes`` (Qwen and most ChatML models)::

    <tool_call>{"name": "find", "arguments": {"name": "A. Ito"}}</tool_call>

``llama3``: JSON that is the whole reply or follows ``<|python_tag|>``, several with ``;`` between::

    {"name": "find", "parameters": {"name": "A. Ito"}}

The arguments are called ``arguments`` or ``parameters`` in both. A reply in the dialect ``llama3``
that has ``<tool_call>`` in it is read as ``hermes``: models are mixed.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Dialect = Literal["hermes", "llama3"]
Malformation = Literal["unclosed", "json", "shape"]

_OPEN, _CLOSE, _TAG = "<tool_call>", "</tool_call>", "<|python_tag|>"
MARKS = (_OPEN, _CLOSE, _TAG)
"""Tokens that are special to some tokenizers and still part of what a reply says."""
_CALL = re.compile(f"{_OPEN}(.*?)(?:{_CLOSE}|(?={_OPEN})|$)", re.DOTALL)
_NAMED = re.compile(r'\{\s*"(?:name|type)"\s*:')

FORMS: Mapping[Dialect, str] = {
    "hermes": f'{_OPEN}{{"name": "tool_name", "arguments": {{"argument": "value"}}}}{_CLOSE}',
    "llama3": '{"name": "tool_name", "parameters": {"argument": "value"}}',
}
"""How a call is written, for prompts."""


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


def parse(text: str, dialect: Dialect = "hermes") -> Reply:
    """Take a reply apart. Never raises: whatever is wrong with a call is in ``malformed``.

    Reasoning must be out of ``text`` already (``solver.thinking``): a call thought of is no call.
    """
    if dialect == "llama3" and _OPEN not in text:
        return _parse_llama3(text)
    read: list[Call | Malformed] = []
    for match in _CALL.finditer(text):
        if match.group(0).endswith(_CLOSE):
            read.append(_read(match.group(1)))
        else:
            read.append(Malformed("unclosed", f"a {_OPEN} without {_CLOSE}"))
    return _reply(_CALL.sub("", text).replace(_CLOSE, "").strip(), read)


def describe(tools: Sequence[Mapping[str, Any]]) -> str:
    """Tell a model about its tools, for conversations whose template does not (``hermes``)."""
    schemas = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    return (
        f"Tools, as JSON schemas:\n{schemas}\n\n"
        f"A call is written {FORMS['hermes']}\nas part of the reply's text."
    )


def _parse_llama3(text: str) -> Reply:
    content, tag, body = text.partition(_TAG)
    if not tag:
        body = text.strip()
        if not _NAMED.match(body):
            return Reply(body, (), ())
        content = ""
    pieces: list[Call | Malformed] = []
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    rest = body.strip()
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError) as error:
            pieces.append(Malformed("json", f"not JSON: {error}"[:200]))
            break
        pieces.append(_call(value))
        rest = rest[end:].strip()
        if rest and rest[0] != ";":
            pieces.append(Malformed("json", "text after a call"))
            break
        rest = rest[1:].strip()
    if not pieces:
        pieces.append(Malformed("json", f"nothing after {_TAG}"))
    return _reply(content.strip(), pieces)


def _reply(content: str, read: Sequence[Call | Malformed]) -> Reply:
    calls = tuple(one for one in read if isinstance(one, Call))
    return Reply(content, calls, tuple(one for one in read if isinstance(one, Malformed)))


def _read(body: str) -> Call | Malformed:
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Malformed("json", f"not JSON: {error}"[:200])
    return _call(value)


def _call(value: Any) -> Call | Malformed:
    if isinstance(value, dict) and "name" not in value and "function" in value:
        value = value["function"]  # OpenAI's form, which small models fall into
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return Malformed("shape", 'a call must be an object with a string "name"')
    arguments = value.get("arguments", value.get("parameters", {}))
    if not isinstance(arguments, dict):
        return Malformed("shape", '"arguments" must be an object')
    return Call(value["name"], arguments)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
