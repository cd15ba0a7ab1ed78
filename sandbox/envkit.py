"""The base class of tool-use environments: one file, standard library only.

An environment subclasses ``ToolUseEnv``, sets ``self.state`` and asks for things in ``build``, and
offers its backend as ``tool_*`` methods:

    from envkit import ToolError, ToolUseEnv

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
            if name not in self.state["parcels"].values():
                raise ToolError(f"nobody is called {name}")
            ...

Instructions arrive one after another. The return is 1 when all are carried out in order and no
invariant was ever broken, else 0; words alone never win.

The schema of a tool is derived from its signature and docstring: types are str, int, float, bool,
list, dict, list[str], dict[str, int] and so on, Optional, Union and ``|``, Literal, Any; an
argument with a default may be left out. Arguments are checked before the tool runs. A tool fails by
raising ``ToolError`` (a ValueError, KeyError and the like will do), as often as its state says; it
pages by taking a page number and returning {"items": ..., "next_page": ...}. What it returns is
told as it is, if text, else as JSON.

``solution()`` lists the actions of a winning play in order. A call is {"name": "find_parcel",
"arguments": {"name": "A. Ito"}}; a list of such calls makes them in one turn. A reply without
calls ends the assistant's turn: it is plain text, "It is there.", or the whole action
{"content": "It is there.", "tool_calls": []}. With ``advance = "on_reply"`` each instruction needs
one after its calls.
"""

import _json
import random
import sys

# Every jail of a tool-use environment pays for what is imported here, so ``json``, ``inspect`` and
# ``typing``, eight times the rest together, are done without.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Message = dict[str, str]
    Schema = dict[str, Any]
    Condition = Callable[[dict[str, Any]], object]
    Method = Callable[..., Any]
else:
    Any = Message = Schema = Condition = Method = object

_NAMES: dict[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}
_UNION = type(int | str)
_TYPES = "str, int, float, bool, list, dict, Optional, Union, Literal, Any"
_LARGEST_ECHO = 80
_MOST_CALLS = 32
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
    _called: bool
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
        if self.advance not in ("on_goal", "on_reply"):
            raise ValueError('advance must be "on_goal" or "on_reply"')
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
        calls, _, problem = read_action(action)
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
        for message in messages:
            message["content"] = clean(message["content"])
        won = self._over and self._done == len(self._asked)
        truncated = not self._over and self._turns >= self.max_turns
        return messages, 1.0 if won else 0.0, self._over, truncated, {}

    @classmethod
    def schemas(cls) -> list[Schema]:
        """The tools as function schemas in the OpenAI form, in the order they are written."""
        return [schema_of(name, method) for name, method in methods_of(cls).items()]

    # ---- within

    def _clear(self) -> None:
        self.state = {}
        self._asked, self._never = [], []
        self._done = self._turns = self._words = 0
        self._called = self._over = False

    def _broken(self) -> bool:
        return any(broken(self.state) for broken in self._never)

    def _advance(self, messages: list[Message]) -> None:
        # A goal may look at more than the state; without a call nothing is ever done.
        while self._called and self._asked[self._done][1](self.state):
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
        methods = methods_of(type(self))
        name = call["name"]
        if name not in methods:
            return unknown_tool(name, methods)
        parameters = schema_of(name, methods[name])["function"]["parameters"]
        arguments, problem = check_arguments(name, call.get("arguments", {}), parameters)
        if problem:
            return "error: " + problem
        self._called = True
        try:
            result = getattr(self, "tool_" + name)(**arguments)
        except ToolError as error:
            return f"error: {error}"
        except RecursionError:
            raise
        except _ANSWERS as error:
            return f"error: {type(error).__name__}: {error}"
        return told(result)


# ---- JSON, by the C parts of ``json``


class _Settings:
    """What the C scanner reads its settings from."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_int = int

    @staticmethod
    def parse_float(text: str) -> float:
        number = float(text)
        if number - number != 0.0:
            raise ValueError(f"{text} is too large")
        return number

    @staticmethod
    def parse_constant(text: str) -> float:
        raise ValueError(f"{text} is not JSON")


def _plain(value: object) -> object:
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)  # the order of a set is another one in every process
    return str(value)


_SETTINGS: Any = _Settings
_scan = _json.make_scanner(_SETTINGS)
_encode = _json.make_encoder(
    None, _plain, _json.encode_basestring_ascii, None, ": ", ", ", False, False, True
)


def loads(text: str) -> Any:
    """Return the value of a JSON text; raises ``ValueError``, also for NaN and infinities."""
    text = text.strip(" \t\r\n")
    try:
        value, end = _scan(text, 0)
    except (StopIteration, RecursionError, SystemError):
        # The last where the scanner looks for the error class of ``json``, which is not imported.
        raise ValueError("not JSON") from None
    if end != len(text):
        raise ValueError("not JSON")
    return value


def dumps(value: object) -> str:
    """Return a value as JSON; a set becomes a sorted list, what JSON does not know its text."""
    return "".join(_encode(value, 0))


def told(result: object) -> str:
    """Return what a tool returned as the text that the caller is told."""
    if result is None:
        return "done"
    return result if isinstance(result, str) else dumps(result)


def clean(text: str) -> str:
    """Replace what is no text, NUL and lone surrogates: a call may hold them, a tool repeat it."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


def _shown(value: object) -> str:
    text = dumps(value)
    return text if len(text) <= _LARGEST_ECHO else text[:_LARGEST_ECHO] + "..."


# ---- actions and arguments


def read_action(action: object) -> tuple[list[Schema], str, str]:
    """Return (calls, content, problem) of an action; a model can act on the text of the problem."""
    if isinstance(action, str):
        try:
            action = loads(action)
        except ValueError:
            text = 'error: the action is not JSON; write {"content": ..., "tool_calls": [...]}'
            return [], "", text
    if not isinstance(action, dict):
        return [], "", 'error: the action is not an object {"content": ..., "tool_calls": [...]}'
    calls, content = action.get("tool_calls") or [], action.get("content")
    if not isinstance(calls, list):
        return [], "", "error: `tool_calls` must be a list"
    if len(calls) > _MOST_CALLS:
        return [], "", f"error: at most {_MOST_CALLS} calls in one turn; none of them was made"
    for call in calls:
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            return [], "", 'error: each tool call must be {"name": ..., "arguments": {...}}'
    return calls, content if isinstance(content, str) else "", ""


def unknown_tool(name: str, known: object) -> str:
    """Return the answer to a call of a tool that does not exist; ``known`` are those that do."""
    tools: Any = known
    return f"error: there is no tool `{name[:_LARGEST_ECHO]}`; the tools are: {', '.join(tools)}"


def check_arguments(name: str, given: object, schema: Schema) -> tuple[Schema, str]:
    """Check a call's arguments against a schema; return (arguments as the tool takes them, problem)."""
    if isinstance(given, str):
        try:
            given = loads(given)
        except ValueError:
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
    missing = [key for key in schema["required"] if key not in given]
    if missing:
        wanted = [f"`{key}` ({_kind(properties[key])})" for key in missing]
        notes = [properties[key].get("description", "") for key in missing]
        named = [w + (f": {note}" if note else "") for w, note in zip(wanted, notes, strict=True)]
        plural = "s" if len(missing) > 1 else ""
        return {}, f"{name} needs the argument{plural} {', '.join(named)}"
    checked = {}
    for key, written in given.items():
        fits, value = _fit(written, properties[key])
        if not fits:
            wanted_kind = _kind(properties[key])
            return (
                {},
                f"the argument `{key}` of {name} must be {wanted_kind}, not {_shown(written)}",
            )
        checked[key] = value
    return checked, ""


def _fit(value: Any, schema: Schema) -> tuple[bool, Any]:  # noqa: PLR0911 - a table of types
    """Return (whether the value fits, the value as the tool receives it)."""
    if "anyOf" in schema:
        for option in schema["anyOf"]:
            fits, taken = _fit(value, option)
            if fits:
                return True, taken
        return False, value
    kind = schema.get("type")
    if type(value) is float and value.is_integer() and kind == "integer":
        value = int(value)
    if "enum" in schema:
        return any(value == item and type(value) is type(item) for item in schema["enum"]), value
    if kind is None:
        return True, value
    if kind == "null":
        return value is None, value
    if kind == "number" and type(value) is int:
        return True, value
    if kind == "array" and type(value) is list:
        pairs = [_fit(item, schema.get("items", {})) for item in value]
        return all(fits for fits, _ in pairs), [item for _, item in pairs]
    if kind == "object" and type(value) is dict:
        inner = schema.get("additionalProperties", {})
        found = {key: _fit(item, inner) for key, item in value.items()}
        return all(fits for fits, _ in found.values()), {k: item for k, (_, item) in found.items()}
    return _NAMES.get(type(value)) == kind, value


def _kind(schema: Schema) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(dumps(item) for item in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_kind(option) for option in schema["anyOf"])
    kind = str(schema.get("type", "any value"))
    inner = schema.get("items") or schema.get("additionalProperties")
    return f"{kind} of {_kind(inner)}" if inner else kind


# ---- schemas


def methods_of(kind: type) -> dict[str, Any]:
    """Return the tools of a class by name, inherited ones first, each in the order it is written."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        for name, value in vars(base).items():
            if name.startswith("tool_") and callable(value):
                found[name[len("tool_") :]] = value
    return found


def parameters_of(name: str, method: Method) -> list[tuple[str, Any, bool, Any]]:
    """Return (name, annotation or None, has a default, default) of each argument of a tool.

    Raises ``TypeError`` where a caller could not know or not name them.
    """
    bound = 0 if isinstance(method, staticmethod) else 1
    plain: Any = method
    while hasattr(plain, "__wrapped__"):
        plain = plain.__wrapped__
    code = plain.__code__
    count = code.co_argcount
    if code.co_flags & 0x0C or code.co_posonlyargcount > bound:
        raise TypeError(f"tool_{name} must name its arguments (no *, ** or /)")
    defaults = dict(
        zip(code.co_varnames[:count][::-1], (plain.__defaults__ or ())[::-1], strict=False)
    )
    defaults.update(plain.__kwdefaults__ or {})
    hints = plain.__annotations__
    return [
        (key, _meant(hints.get(key), plain.__globals__), key in defaults, defaults.get(key))
        for key in code.co_varnames[bound : count + code.co_kwonlyargcount]
    ]


def schema_of(name: str, method: Method) -> Schema:
    """Return one tool's schema from its signature and docstring; raises ``TypeError``."""
    parameters = parameters_of(name, method)
    summary, notes = _documentation(method.__doc__ or "", [key for key, *_ in parameters])
    properties: dict[str, Schema] = {}
    for key, hint, optional, default in parameters:
        guess = type(default) if type(default) in _NAMES else str
        entry = type_schema(guess if hint is None else hint)
        if optional and default is None and not _fit(None, entry)[0]:
            entry = {"anyOf": [entry, {"type": "null"}]}
        if notes.get(key):
            entry["description"] = notes[key]
        if optional and _fit(default, entry)[0]:
            entry["default"] = default
        properties[key] = entry
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": summary or name.replace("_", " "),
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": [key for key, _, optional, _ in parameters if not optional],
                "additionalProperties": False,
            },
        },
    }


def _documentation(text: str, names: list[str]) -> tuple[str, dict[str, str]]:
    """Return the first paragraph and the texts of the lines ``name: text``, indented ones joined."""
    summary: list[str] = []
    notes: dict[str, list[str]] = {}
    into, depth = summary, -1
    for line in text.strip().splitlines():
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        head, colon, note = words.partition(":")
        name = head.partition("(")[0].strip()
        if colon and name in names:
            into, depth = [note.strip()], indent
            notes[name] = into
        elif not words or indent <= depth or (head.isidentifier() and words == head + ":"):
            into, depth = [], -1
        else:
            into.append(words)
    return " ".join(" ".join(summary).split()), {key: " ".join(n) for key, n in notes.items()}


def _meant(hint: Any, names: dict[str, Any]) -> Any:
    """Return the type that an annotation means, where it is written as text."""
    hint = getattr(hint, "__forward_arg__", hint)
    return eval(hint, names) if isinstance(hint, str) else hint  # noqa: S307 - of the same file


def type_schema(hint: Any) -> Schema:  # noqa: PLR0911 - a table of types
    """Return the schema of an annotation; raises ``TypeError`` for what JSON does not have."""
    if hint is None or hint is type(None):
        return {"type": "null"}
    if hint in _NAMES:
        return {"type": _NAMES[hint]}
    origin, args = getattr(hint, "__origin__", None), getattr(hint, "__args__", ())
    # Who uses names of ``typing`` has imported it.
    typing: Any = sys.modules.get("typing")
    if type(hint) is _UNION or (typing and origin is typing.Union):
        return {"anyOf": [type_schema(arg) for arg in args]}
    if typing and hint is typing.Any:
        return {}
    if typing and origin is typing.Literal:
        kinds = {_NAMES.get(type(arg)) for arg in args}
        return {**({"type": kinds.pop()} if len(kinds) == 1 else {}), "enum": list(args)}
    if hasattr(hint, "__metadata__"):
        return type_schema(origin)
    if origin is list or (origin in (tuple, set) and len({*args} - {...}) == 1):
        items = type_schema(args[0]) if args else {}
        return {"type": "array", **({"items": items} if items else {})}
    if origin is dict and (not args or args[0] is str):
        inner = type_schema(args[1]) if args else {}
        return {"type": "object", **({"additionalProperties": inner} if inner else {})}
    raise TypeError(f"a tool's argument cannot be of type {hint}; use {_TYPES}")
