"""Forms out of tools' schemas, and arguments out of forms. Pure; schemas were written by models."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from spadekit.errors import BadInput

PREFIX = "argument."
"""What stands before an argument's name in a form, so that none can take the place of another field."""
MOST_CHOICES = 100
Kind = Literal["text", "whole", "number", "truth", "choice", "json"]
_KINDS: Mapping[str, Kind] = {
    "string": "text",
    "integer": "whole",
    "number": "number",
    "boolean": "truth",
}
_JSON: Mapping[str, type] = {"array": list, "object": dict}


@dataclass(frozen=True)
class Field:
    """One argument as a field of a form."""

    name: str
    key: str
    kind: Kind
    about: str
    required: bool
    choices: tuple[str, ...]


def fields_of(schema: Mapping[str, Any]) -> list[Field]:
    """Return the fields for a tool's parameters (an object schema of JSON Schema)."""
    required = set(map(str, _list(schema.get("required"))))
    return [
        Field(
            name=str(name),
            key=f"{PREFIX}{name}",
            kind=_kind(_map(one)),
            about=str(_map(one).get("description", "")),
            required=str(name) in required,
            choices=tuple(map(str, _list(_map(one).get("enum"))[:MOST_CHOICES])),
        )
        for name, one in _map(schema.get("properties")).items()
    ]


def arguments_of(schema: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments that a form gives; an empty field that is not required is left out.

    Raises ``BadInput`` naming the field whose text is not of its type.
    """
    properties = _map(schema.get("properties"))
    found = {}
    for field in fields_of(schema):
        text = form.get(field.key, "")
        if (
            not text.strip()
            and field.kind != "truth"
            and (not field.required or field.kind != "text")
        ):
            if field.required:
                raise BadInput(f"{field.name}: this is needed")
            continue
        if field.kind == "truth" and not text and not field.required:
            continue
        found[field.name] = _value(field, text, _map(properties[field.name]))
    return found


def _value(field: Field, text: str, schema: Mapping[str, Any]) -> Any:
    match field.kind:
        case "text":
            return text
        case "choice":
            for one in _list(schema.get("enum")):
                if str(one) == text:
                    return one
            raise BadInput(f"{field.name}: choose one of the list")
        case "truth":
            return text == "true"
        case "whole" | "number":
            try:
                return int(text) if field.kind == "whole" else float(text)
            except ValueError:
                raise BadInput(f"{field.name}: give a {field.kind} number") from None
        case "json":
            return _parsed(field, text, _JSON.get(str(schema.get("type"))))


def _parsed(field: Field, text: str, wanted: type | None) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if wanted is not None and not isinstance(value, wanted):
        example = '["a", "b"]' if wanted is list else '{"a": 1}'
        raise BadInput(f"{field.name}: write it as JSON, like {example}")
    return value


def _kind(schema: Mapping[str, Any]) -> Kind:
    if _list(schema.get("enum")):
        return "choice"
    return _KINDS.get(str(schema.get("type")), "json")


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
