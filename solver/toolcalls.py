"""Tool calls in a reply, in the dialects that chat models are taught.

``hermes`` (Qwen and most ChatML models)::

    <tool_call>{"name": "find", "arguments": {"name": "A. Ito"}}</tool_call>

``llama3``: JSON that is the whole reply or follows ``<|python_tag|>``, several with ``;`` between::

    {"name": "find", "parameters": {"name": "A. Ito"}}

``xml`` (Qwen3-Coder, Qwen3.5 and later), the values of all but text as JSON::

    <tool_call>
    <function=find>
    <parameter=name>
    A. Ito
    </parameter>
    </function>
    </tool_call>

The arguments are called ``arguments`` or ``parameters`` in both kinds of JSON. What stands between
``<tool_call>`` marks is read in whichever of the forms it has, whatever the dialect: models are mixed.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Dialect = Literal["hermes", "llama3", "xml"]
Malformation = Literal["unclosed", "json", "shape"]

_OPEN, _CLOSE, _TAG = "<tool_call>", "</tool_call>", "<|python_tag|>"
MARKS = (_OPEN, _CLOSE, _TAG)
"""Tokens that are special to some tokenizers and still part of what a reply says."""
_CALL = re.compile(f"{_OPEN}(.*?)(?:{_CLOSE}|(?={_OPEN})|$)", re.DOTALL)
_FUNCTION = re.compile(r"\s*<function=([^>\s]+)>(.*)</function>\s*", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>\s*", re.DOTALL)
_NAMED = re.compile(r'\{\s*"(?:name|type)"\s*:')

_DEEPEST = 64

FORMS: Mapping[Dialect, str] = {
    "hermes": f'{_OPEN}{{"name": "tool_name", "arguments": {{"argument": "value"}}}}{_CLOSE}',
    "llama3": '{"name": "tool_name", "parameters": {"argument": "value"}}',
    "xml": (
        f"{_OPEN}\n<function=tool_name>\n<parameter=argument>\nvalue\n</parameter>\n</function>\n{_CLOSE}"
    ),
}
"""How a call is written, for prompts."""
FOREIGN = ("<arg_key>", "<|tool_call_start|>", "[TOOL_CALLS]", "<|START_ACTION|>")
"""Marks in a chat template that asks for calls in a form that is not read here."""


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


def dialect_of(template: str) -> Dialect:
    """Return the dialect that a chat template asks for."""
    if "<function=" in template:
        return "xml"
    if _OPEN not in template and (_TAG in template or '"parameters": dictionary' in template):
        return "llama3"
    return "hermes"


def parse(text: str, dialect: Dialect = "hermes", tools: Sequence[Mapping[str, Any]] = ()) -> Reply:
    """Take a reply apart. Never raises: whatever is wrong with a call is in ``malformed``.

    Reasoning must be out of ``text`` already (``solver.thinking``): a call thought of is no call.
    ``tools`` (OpenAI schemas) say which arguments of the ``xml`` form are text.
    """
    if dialect == "llama3" and _OPEN not in text:
        return _parse_llama3(text)
    read: list[Call | Malformed] = []
    for match in _CALL.finditer(text):
        if match.group(0).endswith(_CLOSE):
            read.append(_read(match.group(1), tools))
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


def _read(body: str, tools: Sequence[Mapping[str, Any]]) -> Call | Malformed:
    if body.lstrip().startswith("<function="):
        return _read_xml(body, tools)
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Malformed("json", f"not JSON: {error}"[:200])
    return _call(value)


def _read_xml(body: str, tools: Sequence[Mapping[str, Any]]) -> Call | Malformed:
    function = _FUNCTION.fullmatch(body)
    if function is None:
        return Malformed("unclosed", "a <function=...> without </function>")
    name, inner = function.groups()
    arguments: dict[str, Any] = {}
    place = 0
    while inner[place:].strip():
        found = _PARAMETER.match(inner, place)
        if found is None:
            return Malformed(
                "shape", f"what follows in {name} is no <parameter=...>...</parameter>"
            )
        arguments[found[1]] = _value(found[2], _type_of(tools, name, found[1]))
        place = found.end()
    if _too_deep(arguments):
        return Malformed("shape", f"arguments may be nested {_DEEPEST} deep")
    return Call(name, arguments)


def _value(text: str, kind: Any) -> Any:
    """A value by its schema's type; what cannot be read stays text, for the environment to refuse."""
    if kind in ("string", None):
        return text
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def _type_of(tools: Sequence[Mapping[str, Any]], name: str, argument: str) -> Any:
    for tool in tools:
        function = tool.get("function", {})
        if function.get("name") == name:
            schema = function.get("parameters", {}).get("properties", {}).get(argument, {})
            return schema.get("type", "any") if isinstance(schema, dict) else "any"
    return None


def _call(value: Any) -> Call | Malformed:
    if isinstance(value, dict) and "name" not in value and "function" in value:
        value = value["function"]  # OpenAI's form, which small models fall into
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return Malformed("shape", 'a call must be an object with a string "name"')
    arguments = value.get("arguments", value.get("parameters", {}))
    if not isinstance(arguments, dict):
        return Malformed("shape", '"arguments" must be an object')
    if _too_deep(arguments):
        return Malformed("shape", f"arguments may be nested {_DEEPEST} deep")
    return Call(value["name"], arguments)


def _too_deep(value: Any) -> bool:
    """Whether a value is nested deeper than whoever writes or reads it again could follow."""
    level = [value]
    for _ in range(_DEEPEST + 1):
        level = [
            item
            for one in level
            if isinstance(one, dict | list)
            for item in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
