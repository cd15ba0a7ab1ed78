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
