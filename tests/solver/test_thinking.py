"""Reasoning is no part of what a reply says."""

import pytest

from solver.thinking import Said, said


@pytest.mark.parametrize(
    ("text", "opened", "expected"),
    [
        ("left", False, Said("left", True)),
        ("", False, Said("", True)),
        ("<think>right?</think>left", False, Said("left", True)),
        ("right?</think>left", True, Said("left", True)),
        ("right?</think>left", False, Said("left", True)),
        ("right", True, Said("", False)),
        ("<think>right", False, Said("", False)),
        ("", True, Said("", False)),
        ("left<think>right</think> now", False, Said("left now", True)),
        ("left<think>right", False, Said("left", False)),
        ("<think><think>right</think>left", False, Said("left", True)),
        ("<think>a</think>b</think>left", False, Said("left", True)),
    ],
)
def test_an_answer_is_what_stands_outside_the_reasoning(
    text: str, opened: bool, expected: Said
) -> None:
    assert said(text, opened) == expected


def test_a_reply_of_nothing_but_marks_takes_linear_time() -> None:
    assert said("<think></think>" * 100_000 + "left") == Said("left", True)
    assert said("</think>" * 100_000) == Said("", True)
