"""Source files: what their last lines may carry, and that none of it becomes code."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen.certificate.hint import check_hint
from envgen.sourcefile import CONTROL, hint_of, parse, write

SOURCE = "class AEnv:\n    pass\n"
ENDS = ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"]
ATTACK = "Think.\rfrom os import system as __getattr__\rfrom __main__ import id"


@pytest.mark.parametrize("hint", [ATTACK, *(f"Think.{end}print(1)" for end in ENDS), "a\n\rb"])
def test_a_hint_never_becomes_code_of_the_file_it_is_written_in(hint: str) -> None:
    text = write(SOURCE, hint)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(SOURCE))
    assert text.isascii()
    assert (parse(text).source, parse(text).hint) == (SOURCE, hint)


@given(st.text(), st.lists(st.text(), max_size=3), st.integers(0, 5))
def test_whatever_goes_with_a_source_its_file_is_the_same_program(
    hint: str, skills: list[str], difficulty: int
) -> None:
    text = write(SOURCE, hint, skills, difficulty)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(SOURCE))
    read = parse(text)
    assert (read.source, read.hint, read.difficulty) == (SOURCE, hint, difficulty)
    assert all(skill in [one.strip() for one in skills] for skill in read.skills)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("line", ["# hint: Think.{}print(1)", "#{}hint: x", "# skills: a{}b"])
def test_a_last_line_with_another_line_end_stays_in_the_source(line: str, end: str) -> None:
    text = SOURCE + line.format(end)
    assert parse(text).source == text
    assert not CONTROL.search(parse(text).hint)


def test_lines_that_end_as_on_windows_are_read() -> None:
    text = "class AEnv:\r\n    pass\r\n# hint: Think.\r\n# skills: memory_recall\r\n"
    assert (parse(text).hint, parse(text).skills) == ("Think.", ("memory_recall",))
    assert hint_of(text) == "Think."


def test_skills_of_a_file_are_words() -> None:
    text = SOURCE + "# hint: a\n# skills: <script>x</script>, spatial reasoning, [a](b), `c`"
    assert parse(text).skills == ("spatial reasoning",)


@pytest.mark.parametrize("hint", [ATTACK, "a\x1b[2Jb", "a\ud800b", "a\u2028b", "a\x00b", "a\x85b"])
def test_a_hint_with_control_characters_or_surrogates_fails_its_check(hint: str) -> None:
    check = check_hint(hint, [])
    assert check.verdict == "fail"
    assert check.message.isprintable()
    assert check_hint("Draw\tthe map.\nThen walk; größer, 日本語.", []).verdict == "pass"
