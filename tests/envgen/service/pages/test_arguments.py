"""Forms out of schemas, arguments out of forms."""

from typing import Any

import pytest

from envgen.service.pages.arguments import arguments_of, fields_of
from spadekit.errors import BadInput

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "who"},
        "bags": {"type": "integer"},
        "weight": {"type": "number"},
        "fast": {"type": "boolean"},
        "size": {"type": "string", "enum": ["small", "large"]},
        "level": {"enum": [1, 2]},
        "stops": {"type": "array"},
    },
    "required": ["name", "bags"],
}


def form(**values: str) -> dict[str, str]:
    return {f"argument.{name}": value for name, value in values.items()}


def test_every_type_has_its_kind_of_field() -> None:
    kinds = {one.name: (one.kind, one.required) for one in fields_of(SCHEMA)}
    assert kinds == {
        "name": ("text", True),
        "bags": ("whole", True),
        "weight": ("number", False),
        "fast": ("truth", False),
        "size": ("choice", False),
        "level": ("choice", False),
        "stops": ("json", False),
    }


def test_arguments_have_their_types_and_empty_ones_are_left_out() -> None:
    assert arguments_of(SCHEMA, form(name="a", bags="3", weight="", size="", fast="")) == {
        "name": "a",
        "bags": 3,
    }
    given = form(
        name="", bags="-1", weight="2.5", fast="false", size="large", level="2", stops='["x"]'
    )
    assert arguments_of(SCHEMA, given) == {
        "name": "",
        "bags": -1,
        "weight": 2.5,
        "fast": False,
        "size": "large",
        "level": 2,
        "stops": ["x"],
    }


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"name": "a"}, "bags: this is needed"),
        ({"name": "a", "bags": "x"}, "bags: give a whole number"),
        ({"name": "a", "bags": "1", "size": "huge"}, "size: choose one"),
        ({"name": "a", "bags": "1", "stops": "{}"}, "stops: write it as JSON"),
        ({"name": "a", "bags": "1", "stops": "[" * 100_000}, "stops: write it as JSON"),
    ],
)
def test_a_wrong_field_is_named(values: dict[str, str], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        arguments_of(SCHEMA, form(**values))


@pytest.mark.parametrize(
    "schema", [{}, {"properties": []}, {"properties": {"a": 3}, "required": "a"}, {"required": 7}]
)
def test_a_schema_that_is_none_makes_no_trouble(schema: dict[str, Any]) -> None:
    assert arguments_of(schema, {}) == {}
