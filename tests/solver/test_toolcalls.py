"""Reading tool calls: whatever a model writes comes out as calls, text, or a typed fault."""

import json

import pytest

from solver.toolcalls import Call, parse

GOOD = '<tool_call>{"name": "find", "arguments": {"name": "A. Ito"}}</tool_call>'


def test_calls_and_text_are_told_apart() -> None:
    reply = parse(f"I look.\n{GOOD}\n{GOOD} Done.")
    assert reply.calls == (Call("find", {"name": "A. Ito"}),) * 2
    assert reply.content == "I look.\n\n Done."
    assert reply.malformed == ()
    assert json.loads(reply.action())["tool_calls"][0]["arguments"] == {"name": "A. Ito"}


def test_a_reply_without_calls_is_all_text() -> None:
    assert json.loads(parse("  just words ").action()) == {
        "content": "just words",
        "tool_calls": [],
    }


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<tool_call>", "unclosed"),
        ('<tool_call>{"name": "a", "arguments": {}}', "unclosed"),
        (f"<tool_call>{{ {GOOD}", "unclosed"),
        ("<tool_call></tool_call>", "json"),
        ("<tool_call>find(name)</tool_call>", "json"),
        ('<tool_call>{"name": "a", "arguments": {"x": NaN}}</tool_call>', "json"),
        ("<tool_call>" + "[" * 100_000 + "</tool_call>", "json"),
        ("<tool_call>" + "9" * 10_000 + "</tool_call>", "json"),
        ("<tool_call>[]</tool_call>", "shape"),
        ('<tool_call>{"arguments": {}}</tool_call>', "shape"),
        ('<tool_call>{"name": "a", "arguments": "{}"}</tool_call>', "shape"),
        ('<tool_call>{"name": "a", "arguments": null}</tool_call>', "shape"),
    ],
)
def test_malformed_calls_are_typed(text: str, kind: str) -> None:
    reply = parse(text)
    assert [problem.kind for problem in reply.malformed] == [kind]
    assert len(reply.malformed[0].detail) < 250


def test_arguments_may_be_left_out() -> None:
    assert parse('<tool_call>{"name": "list"}</tool_call>').calls == (Call("list", {}),)


def test_closing_marks_alone_are_no_call() -> None:
    reply = parse("</tool_call>")
    assert (reply.content, reply.calls, reply.malformed) == ("", (), ())


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "find", "parameters": {"name": "A. Ito"}}',
        '\n {"name": "find", "arguments": {"name": "A. Ito"}} ',
        '<|python_tag|>{"name": "find", "parameters": {"name": "A. Ito"}}',
        '{"type": "function", "name": "find", "parameters": {"name": "A. Ito"}}',
        '{"type": "function", "function": {"name": "find", "parameters": {"name": "A. Ito"}}}',
        '<tool_call>{"name": "find", "parameters": {"name": "A. Ito"}}</tool_call>',
    ],
)
def test_llama_writes_a_call_as_json_alone_or_behind_its_tag(text: str) -> None:
    reply = parse(text, "llama3")
    assert reply.calls == (Call("find", {"name": "A. Ito"}),)
    assert (reply.content, reply.malformed) == ("", ())


def test_llama_writes_several_calls_with_semicolons_between() -> None:
    reply = parse('I look.<|python_tag|>{"name": "a"}; {"name": "b", "parameters": {}}', "llama3")
    assert reply.calls == (Call("a", {}), Call("b", {}))
    assert reply.content == "I look."


@pytest.mark.parametrize("text", ["It is on shelf 3.", '{"shelf": 3}', "{", "", '"name": "find"'])
def test_text_that_attempts_no_call_is_an_answer(text: str) -> None:
    reply = parse(text, "llama3")
    assert (reply.content, reply.calls, reply.malformed) == (text, (), ())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"name": "find", "parameters": {"name": "A.', "json"),
        ('{"name": "find"} and that is all', "json"),
        ("<|python_tag|>find.call(name='A. Ito')", "json"),
        ("<|python_tag|>", "json"),
        ('<|python_tag|>{"name": "find", "parameters": {"x": NaN}}', "json"),
        ("<|python_tag|>" + "[" * 100_000, "json"),
        ('{"name": 3}', "shape"),
        ('<|python_tag|>["find"]', "shape"),
        ('{"name": "find", "parameters": "{}"}', "shape"),
    ],
)
def test_calls_of_llama_that_cannot_be_read_are_typed(text: str, kind: str) -> None:
    reply = parse(text, "llama3")
    assert [problem.kind for problem in reply.malformed] == [kind]
    assert len(reply.malformed[0].detail) < 250


def test_json_alone_is_no_call_in_the_other_dialect() -> None:
    assert parse('{"name": "find", "arguments": {}}').calls == ()


WEIGH = {
    "type": "function",
    "function": {
        "name": "weigh",
        "parameters": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "grams": {"type": "integer"},
                "tags": {"type": "array"},
            },
        },
    },
}


def xml(*parameters: tuple[str, str]) -> str:
    inner = "".join(f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in parameters)
    return f"<tool_call>\n<function=weigh>\n{inner}</function>\n</tool_call>"


def test_calls_in_xml_are_read_by_the_tools_schema() -> None:
    text = xml(("name", "17"), ("grams", "17"), ("tags", '["a"]'), ("note", "<b>\n2</b>"))
    reply = parse(f"I weigh.\n{text}", "xml", [WEIGH])
    expected = {"name": "17", "grams": 17, "tags": ["a"], "note": "<b>\n2</b>"}
    assert reply.calls == (Call("weigh", expected),)
    assert (reply.content, reply.malformed) == ("I weigh.", ())
    assert parse(xml(), "xml", [WEIGH]).calls == (Call("weigh", {}),)
    assert parse(xml(("grams", "much")), "xml", [WEIGH]).calls[0].arguments == {"grams": "much"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<tool_call>\n<function=weigh>\n</tool_call>", "unclosed"),
        ("<tool_call>\n<function=weigh>\n<parameter=a>1</function></tool_call>", "shape"),
        ("<tool_call>\n<function=weigh>17</function></tool_call>", "shape"),
        ("<tool_call>\n<function=weigh>", "unclosed"),
    ],
)
def test_calls_in_xml_that_cannot_be_read_are_typed(text: str, kind: str) -> None:
    assert [problem.kind for problem in parse(text, "xml").malformed] == [kind]


def test_arguments_that_could_not_be_written_again_are_malformed() -> None:
    for depth, kinds in ((60, []), (70, ["shape"]), (500, ["shape"]), (100_000, ["json"])):
        nested = "[" * depth + "]" * depth
        told = f'<tool_call>{{"name": "a", "arguments": {{"b": {nested}}}}}</tool_call>'
        reply = parse(told)
        assert [one.kind for one in reply.malformed] == kinds
        reply.action()
    xml = "<tool_call><function=a><parameter=b>" + "[" * 900 + "]" * 900
    tool = {"function": {"name": "a", "parameters": {"properties": {"b": {"type": "array"}}}}}
    reply = parse(f"{xml}</parameter></function></tool_call>", "xml", [tool])
    assert [one.kind for one in reply.malformed] == ["shape"]
