"""The shape of a tool's schema, checked: whoever reads one may rely on it.

``envkit`` makes such schemas, but a program may give its own, and these are hostile data. A tool is
``{"type": "function", "function": {"name", "description", "parameters"}}``, its parameters an object's
schema with ``properties`` and ``required``. Keywords that nobody here reads are left as they are.

Names go into prompts and, in exports, into programs. A tool's is one that services of models take;
those of parameters, at any depth, are names to Python (``envkit`` has them from methods).
"""

import re
import unicodedata
from typing import Any, Final

TYPES: Final = ("string", "integer", "number", "boolean", "array", "object", "null")
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
PARAMETER_CHARS: Final = 64
_SCALARS: Final = (str, int, float, bool, type(None))


def flaw(tools: list[Any]) -> str | None:
    """Return what is wrong with the schemas of an environment's tools, None if nothing is."""
    names: set[str] = set()
    for tool in tools:
        facts = tool.get("function") if type(tool) is dict else None
        if type(facts) is not dict or tool.get("type") != "function":
            return "a tool is not a function's schema"
        name = facts.get("name")
        if type(name) is not str or not NAME.fullmatch(name):
            return "a tool's name is not a name: at most 64 of letters, digits, `_` and `-`"
        if name in names:
            return f"two tools have the name {name}"
        names.add(name)
        if not _is_function(facts):
            return (
                f"the schema of {name} lacks a description, has parameters that say nothing, "
                "or one whose name is not a name"
            )
    return None


def _is_function(facts: dict[str, Any]) -> bool:
    parameters = facts.get("parameters")
    return (
        type(facts.get("description")) is str
        and type(parameters) is dict
        and parameters.get("type") == "object"
        and "properties" in parameters
        and "required" in parameters
        and _entry(parameters)
    )


def _is_parameter(key: Any) -> bool:
    return (
        type(key) is str
        and len(key) <= PARAMETER_CHARS
        and key.isidentifier()
        # Python takes two ways of writing a letter for one name.
        and unicodedata.normalize("NFKC", key) == key
    )


def _entry(value: Any) -> bool:
    """Whether ``value`` is the schema of a value; the nesting of a frame is bounded."""
    if type(value) is not dict:
        return False
    properties, required = value.get("properties", {}), value.get("required", [])
    rest, options = value.get("additionalProperties", True), value.get("anyOf")
    return (
        ("type" not in value or value["type"] in TYPES)
        and type(value.get("description", "")) is str
        and ("enum" not in value or _choices(value["enum"]))
        and ("items" not in value or _entry(value["items"]))
        and (options is None or (type(options) is list and bool(options)))
        and all(_entry(option) for option in options or ())
        and type(properties) is dict
        and all(_is_parameter(key) and _entry(entry) for key, entry in properties.items())
        and type(required) is list
        and all(type(key) is str and key in properties for key in required)
        and (type(rest) is bool or _entry(rest))
    )


def _choices(value: Any) -> bool:
    return type(value) is list and bool(value) and all(type(one) in _SCALARS for one in value)
