"""Schemas of tools that a program gave itself: only what every reader can rely on passes."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import EnvironmentFault, Sandbox, schema
from sandbox.envkit import ToolUseEnv


class Desk(ToolUseEnv):
    def tool_find(self, name: str, floor: int | None = None, kinds: list[str] | None = None) -> str:
        """Find something.

        name: of the thing
        """
        return name

    def tool_count(self, by: dict[str, float]) -> str:
        """Count."""
        return str(by)


GOOD = Desk.schemas()


def test_what_envkit_makes_is_without_flaw() -> None:
    assert schema.flaw(GOOD) is None and schema.flaw([]) is None


PLACES: list[tuple[tuple[Any, ...], Any]] = [
    ((0,), {"a": 1}),
    ((0,), 5),
    ((0, "type"), "thing"),
    ((0, "function"), 5),
    ((0, "function", "name"), 5),
    ((0, "function", "name"), "find it"),
    ((0, "function", "name"), "count"),
    ((0, "function", "name"), "x" * 500),
    ((0, "function", "description"), None),
    ((0, "function", "parameters"), {"properties": {}}),
    ((0, "function", "parameters", "properties"), {"name": 5}),
    ((0, "function", "parameters", "required"), 5),
    ((0, "function", "parameters", "required"), ["absent"]),
    ((0, "function", "parameters", "required"), [[]]),
    ((0, "function", "parameters", "properties", "name"), {"enum": []}),
    ((0, "function", "parameters", "properties", "name"), {"enum": [[1]]}),
    ((0, "function", "parameters", "properties", "name"), {"anyOf": []}),
    ((0, "function", "parameters", "properties", "name"), {"anyOf": {"a": 1}}),
    ((0, "function", "parameters", "properties", "name"), {"description": [1]}),
    ((0, "function", "parameters", "properties", "name"), {"type": ["string"]}),
    ((0, "function", "parameters", "properties", "name"), {"items": 3}),
    ((0, "function", "parameters", "properties", "name"), {"items": {"anyOf": [{"enum": 3}]}}),
    ((0, "function", "parameters", "properties", "name"), {"additionalProperties": None}),
]


@pytest.mark.parametrize(("place", "value"), PLACES, ids=lambda part: str(part)[:60])
def test_every_other_shape_is_a_flaw_in_words(place: tuple[Any, ...], value: Any) -> None:
    tools: Any = copy.deepcopy(GOOD)
    inner = tools
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    assert schema.flaw(tools)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "function",
                    "name",
                    "parameters",
                    "properties",
                    "required",
                    "enum",
                    "anyOf",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=3))
def test_nothing_that_json_can_say_breaks_the_check(tools: list[Any]) -> None:
    found = schema.flaw(tools)
    assert found is None or found.isprintable()


async def test_a_program_whose_schemas_lie_does_not_load() -> None:
    source = (
        "from envkit import ToolUseEnv\n"
        "class AEnv(ToolUseEnv):\n"
        "    @classmethod\n"
        "    def schemas(cls): return [{'function': {'name': 'x'}}]\n"
    )
    async with Sandbox() as sandbox:
        with pytest.raises(EnvironmentFault, match="load: contract: a tool is not a function"):
            await sandbox.open(source)
