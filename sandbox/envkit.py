"""The base class of tool-use environments: one file, standard library only.

An environment subclasses ``ToolUseEnv``, sets ``self.state`` and asks for things in ``build``, and
offers its backend as ``tool_*`` methods:

    from envkit import ToolUseEnv

    class ParcelDeskEnv(ToolUseEnv):
        \"\"\"Find parcels and book deliveries at a parcel desk.\"\"\"

        def build(self, rng):
            self.state = {"parcels": {17: "A. Ito"}, "looked_up": None}
            self.ask("Where is Ms Ito's parcel?", until=lambda s: s["looked_up"] == 17)
            self.never(lambda s: len(s["parcels"]) != 1)

        def tool_find_parcel(self, name: str) -> str:
            \"\"\"Find a parcel by the addressee's name.

            name: full name of the addressee
            \"\"\"

Instructions arrive one after another. The return is 1 when all are carried out in order and no
invariant was ever broken, else 0; words alone never win.
"""

import inspect
import json
import random
import types
import typing
from collections.abc import Callable
from typing import Any

Message = dict[str, str]
Schema = dict[str, Any]
Condition = Callable[[dict[str, Any]], object]

_NAMES: dict[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}
_LARGEST_ECHO = 80
# What a backend answers with; other exceptions are bugs of the environment and end the episode.
_ANSWERS = (ValueError, LookupError, ArithmeticError, RuntimeError)


class ToolError(Exception):
    """Raised by a tool to answer the caller with an error text."""


class ToolUseEnv:
    """A simulated backend with tools, hidden state and instructions; subclass it.

    ``advance``: "on_goal" counts an instruction as done as soon as its ``until`` holds after a
    call; "on_reply" only when the assistant then ends its turn with a reply without calls, and a
    turn that ends too early loses.
    """

    advance = "on_goal"
    max_turns = 20
    state: dict[str, Any]
    _asked: list[tuple[str, Condition]]
    _never: list[Condition]
    _done: int
    _turns: int
    _words: int
    _over: bool

    def __init__(self, max_turns: int | None = None, **_: Any) -> None:
        if max_turns is not None:
            self.max_turns = max_turns
        self._clear()

    # ---- for the author of an environment

    def build(self, rng: random.Random) -> None:
        """Set ``self.state`` and ask; ``rng`` is a ``random.Random`` seeded by the host."""
        raise NotImplementedError("write build(self, rng): set self.state and call self.ask(...)")

    def ask(self, text: str, until: Condition) -> None:
        """Add an instruction; it is done when ``until(self.state)`` holds."""
        if not isinstance(text, str) or not text.strip():
            raise ValueError("ask() needs the instruction as text")
        if not callable(until):
            raise ValueError("ask() needs until=lambda state: ...")
        self._asked.append((text, until))

    def never(self, broken: Condition) -> None:
        """Add an invariant: once ``broken(self.state)`` holds, the episode is lost."""
        if not callable(broken):
            raise ValueError("never() needs a function of the state")
        self._never.append(broken)

    # ---- for the host

    def reset(self, seed: int | None = None) -> tuple[list[Message], dict[str, Any]]:
        """Build the instance of ``seed``; returns the first instruction as messages."""
        self._clear()
        self.build(random.Random(seed))
        if not self._asked:
            raise ValueError("build() asked for nothing: call self.ask(text, until=...)")
        for number, (_, until) in enumerate(self._asked, 1):
            if until(self.state):
                raise ValueError(f"instruction {number} is done before anything was called")
        if self._broken():
            raise ValueError("an invariant of never() is broken at the start")
        return [{"role": "user", "content": self._asked[0][0]}], {}

    def step(self, action: object) -> tuple[list[Message], float, bool, bool, dict[str, Any]]:
        """Play one action, JSON ``{"content": str, "tool_calls": [{"name", "arguments"}]}``."""
        if self._over:
            return [], 0.0, True, False, {}
        self._turns += 1
        messages: list[Message] = []
        calls, problem = _read_action(action)
        if problem:
            messages.append({"role": "tool", "content": problem})
        elif not calls:
            self._end_of_turn(messages)
        for call in calls:
            self._words = 0
            messages.append({"role": "tool", "content": self._call(call)})
            if self._broken():
                self._lose(messages, "That must never happen. The task has failed.")
                break
            if self.advance == "on_goal":
                self._advance(messages)
            if self._over:
                break
        won = self._over and self._done == len(self._asked)
        truncated = not self._over and self._turns >= self.max_turns
        return messages, 1.0 if won else 0.0, self._over, truncated, {}

    @classmethod
    def schemas(cls) -> list[Schema]:
        """The tools as function schemas in the OpenAI form, in the order they are written."""
        return [_schema(name, method) for name, method in cls._methods().items()]

    @classmethod
    def _methods(cls) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for kind in reversed(cls.__mro__):
            for name, value in vars(kind).items():
                if name.startswith("tool_") and callable(value):
                    found[name[len("tool_") :]] = value
        return found

    # ---- within

    def _clear(self) -> None:
        self.state = {}
        self._asked, self._never = [], []
        self._done = self._turns = self._words = 0
        self._over = False

    def _broken(self) -> bool:
        return any(broken(self.state) for broken in self._never)

    def _advance(self, messages: list[Message]) -> None:
        while self._asked[self._done][1](self.state):
            self._done += 1
            if self._done == len(self._asked):
                self._over = True
                return
            messages.append({"role": "user", "content": self._asked[self._done][0]})
            if self.advance == "on_reply":
                return

    def _end_of_turn(self, messages: list[Message]) -> None:
        """The assistant spoke: the user reminds it once; a second time in a row is giving up."""
        before = self._done
        if self.advance == "on_reply":
            self._advance(messages)
        if self._done > before:
            return
        self._words += 1
        if self.advance == "on_reply" or self._words > 1:
            self._lose(messages, "That was not done. The task has failed.")
        else:
            text = "That is not done yet: " + self._asked[self._done][0]
            messages.append({"role": "user", "content": text})

    def _lose(self, messages: list[Message], text: str) -> None:
        self._over = True
        self._done = -1
        messages.append({"role": "user", "content": text})

    def _call(self, call: Schema) -> str:
        methods = self._methods()
        name = call["name"]
        if name not in methods:
            known = ", ".join(methods)
            return f"error: there is no tool `{name[:_LARGEST_ECHO]}`; the tools are: {known}"
        schema = _schema(name, methods[name])["function"]["parameters"]
        arguments, problem = _arguments(name, call.get("arguments", {}), schema)
        if problem:
            return "error: " + problem
        try:
            result = getattr(self, "tool_" + name)(**arguments)
        except ToolError as error:
            return f"error: {error}"
        except RecursionError:
            raise
        except _ANSWERS as error:
            return f"error: {type(error).__name__}: {error}"
        if result is None:
            return "done"
        return result if isinstance(result, str) else json.dumps(result, default=str)


def _read_action(action: object) -> tuple[list[Schema], str]:
    """Return (calls, problem) of an action; the problem is a text that the model can act on."""
    if isinstance(action, str):
        try:
            action = json.loads(action)
        except (ValueError, RecursionError):
            return [], 'error: the action is not JSON; write {"content": ..., "tool_calls": [...]}'
    if not isinstance(action, dict):
        return [], 'error: the action is not an object {"content": ..., "tool_calls": [...]}'
    calls = action.get("tool_calls") or []
    if not isinstance(calls, list):
        return [], "error: `tool_calls` must be a list"
    for call in calls:
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            return [], 'error: each tool call must be {"name": ..., "arguments": {...}}'
    return calls, ""


def _arguments(name: str, given: object, schema: Schema) -> tuple[Schema, str]:
    """Check arguments against a schema; return (arguments, problem)."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}, f"the arguments of {name} are not a JSON object"
    if given is None:
        given = {}
    if not isinstance(given, dict):
        return {}, f"the arguments of {name} must be an object, not {_shown(given)}"
    properties = schema["properties"]
    for key in given:
        if key not in properties:
            known = ", ".join(f"`{known}`" for known in properties) or "none"
            return {}, f"{name} has no argument `{key[:_LARGEST_ECHO]}`; its arguments: {known}"
    for key in schema["required"]:
        if key not in given:
            hint = properties[key].get("description")
            extra = f": {hint}" if hint else ""
            kind = _kind(properties[key])
            return {}, f"{name} needs the argument `{key}` ({kind}){extra}"
    checked = {}
    for key, written in given.items():
        fits, value = _fit(written, properties[key])
        if not fits:
            wanted = _kind(properties[key])
            return {}, f"the argument `{key}` of {name} must be {wanted}, not {_shown(value)}"
        checked[key] = value
    return checked, ""


def _fit(value: Any, schema: Schema) -> tuple[bool, Any]:  # noqa: PLR0911 - a table of types
    """Return (whether the value fits, the value as the tool receives it)."""
    if "enum" in schema:
        return any(value == item and type(value) is type(item) for item in schema["enum"]), value
    if "anyOf" in schema:
        for option in schema["anyOf"]:
            fits, taken = _fit(value, option)
            if fits:
                return True, taken
        return False, value
    kind = schema.get("type")
    if kind is None:
        return True, value
    if kind == "null":
        return value is None, value
    if kind == "integer" and type(value) is float and value.is_integer():
        return True, int(value)
    if kind == "number" and type(value) is int:
        return True, value
    if kind == "array" and type(value) is list:
        pairs = [_fit(item, schema.get("items", {})) for item in value]
        return all(fits for fits, _ in pairs), [item for _, item in pairs]
    return _NAMES.get(type(value)) == kind, value


def _kind(schema: Schema) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(item) for item in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_kind(option) for option in schema["anyOf"])
    kind = str(schema.get("type", "any value"))
    if kind == "array" and schema.get("items"):
        return "array of " + _kind(schema["items"])
    return kind


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= _LARGEST_ECHO else text[:_LARGEST_ECHO] + "..."


def _schema(name: str, method: Callable[..., Any]) -> Schema:
    """One tool's schema from its signature and docstring."""
    summary, notes = _documentation(method)
    hints = typing.get_type_hints(method)
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"tool_{name} must name its arguments (no * or **)")
        entry = _type_schema(hints.get(parameter.name, str))
        if parameter.name in notes:
            entry["description"] = notes[parameter.name]
        properties[parameter.name] = entry
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": summary or name.replace("_", " "),
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            },
        },
    }


def _documentation(method: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the first paragraph and the `name: text` lines of a docstring."""
    text = inspect.cleandoc(method.__doc__ or "")
    summary, _, rest = text.partition("\n\n")
    notes = {}
    for line in rest.splitlines():
        name, colon, note = line.strip().partition(":")
        if colon and name.isidentifier():
            notes[name] = note.strip()
    return " ".join(summary.split()), notes


def _type_schema(hint: Any) -> Schema:  # noqa: PLR0911 - a table of types
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is typing.Any:
        return {}
    if hint is type(None):
        return {"type": "null"}
    if hint in _NAMES:
        return {"type": _NAMES[hint]}
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_type_schema(arg) for arg in args]}
    if origin in (list, tuple, set):
        return {"type": "array", "items": _type_schema(args[0])}
    if origin is dict:
        return {"type": "object"}
    raise TypeError(f"a tool's argument cannot be of type {hint}")
