"""Answers are found as they are written, and nothing else passes for one."""

import base64
import json
import os
import pickle
import zlib
from pathlib import Path

import pytest

from bench.suites.answers import boxed, code, integer, letter, tagged
from bench.suites.livecodebench import Case, cases_of, passes, same_output, text_of_pickle
from spadekit.errors import BadInput

ABCD = ("A", "B", "C", "D")


def packed(value: object, protocol: int = 4) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value, protocol))).decode()


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (r"so \boxed{42}", "42"),
        (r"\boxed{1} then \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{ 7 }.", "7"),
        ("the answer is 42", None),
        (r"\boxed{42", None),
        ("", None),
    ],
)
def test_the_last_whole_box_is_the_answer(reply: str, found: str | None) -> None:
    assert boxed(reply) == found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("204", 204),
        ("025", 25),
        ("$204$", 204),
        (r"\text{204}", 204),
        (r"336^\circ", 336),
        (r"336^{\circ}", 336),
        ("1{,}024", 1024),
        ("1,024", 1024),
        ("n = 12", 12),
        ("12.0", 12),
        ("12.", 12),
        ("-3", -3),
        ("12.5", None),
        ("2^{10}", None),
        ("1,2", None),
        ("12 or 13", None),
        ("9" * 40, None),
        ("", None),
        (None, None),
    ],
)
def test_whole_numbers_are_read_as_they_are_written_and_nothing_is_computed(
    text: str | None, value: int | None
) -> None:
    assert integer(text) == value


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (r"\boxed{C}", "C"),
        (r"\boxed{\text{(b)}}", "B"),
        (r"\boxed{A) The proton}", "A"),
        ("**Answer: D**", "D"),
        ("The answer is (B).", "B"),
        ("Answer: A? No. The answer is C", "C"),
        (r"The answer is B, so \boxed{E}", None),
        (r"\boxed{All}", None),
        ("Answer: Carbon", None),
        ("A", None),
        ("", None),
    ],
)
def test_a_letter_is_taken_from_the_box_or_from_what_is_called_the_answer(
    reply: str, found: str | None
) -> None:
    assert letter(reply, ABCD) == found


def test_marked_answers_and_code_are_the_last_ones() -> None:
    assert tagged("<answer>1</answer> no: <answer>\n2 </answer>") == "2"
    assert tagged("<answer>1") is None
    assert code("```python\nprint(1)\n```\nbetter:\n```python\nprint(2)\n```") == "print(2)\n"
    assert code("```\nprint(1)\n```") == "print(1)\n"
    assert code("```python\nprint(1)\n```\n```\nits output\n```") == "print(1)\n"
    assert code("```cpp\nint main() {}\n```") is None
    assert code("```python\n \n```") is None
    assert code("print(1)") is None


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_text_is_read_without_unpickling(protocol: int) -> None:
    assert text_of_pickle(pickle.dumps("naïve \\ text\n", protocol)) == "naïve \\ text\n"


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("evil",)


@pytest.mark.parametrize("value", [Evil(), ["[]"], {"[]": 1}, 3, ("a", "b")])
def test_a_pickle_of_anything_but_one_text_is_refused_and_runs_nothing(
    value: object, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    row = {"question_id": "q", "public_test_cases": "[]", "private_test_cases": packed(value)}
    with pytest.raises(BadInput, match="problem q: its tests cannot be read"):
        cases_of(row)
    assert list(Path().iterdir()) == []


def test_hidden_tests_are_read_plain_and_packed() -> None:
    public = [{"input": "1", "output": "2", "testtype": "stdin"}]
    hidden = json.dumps([{"input": "3", "output": "4", "testtype": "stdin"}])
    for stored in (hidden, packed(hidden)):
        row = {"public_test_cases": json.dumps(public), "private_test_cases": stored}
        assert cases_of(row) == [Case("1", "2"), Case("3", "4")]


@pytest.mark.parametrize(
    ("output", "wanted", "same"),
    [
        ("3\n", "3", True),
        (" 3 \n4\n\n", "3\n4", True),
        ("1.0 2", "1 2.00", True),
        ("50000000000000000", "50000000000000001", False),
        ("3\n\n4", "3\n4", False),
        ("yes", "YES", False),
        ("", "0", False),
        ("nan", "nan", True),
    ],
)
def test_outputs_are_the_same_line_by_line_as_text_or_as_exact_numbers(
    output: str, wanted: str, same: bool
) -> None:
    assert same_output(output, wanted) is same


def test_what_is_no_answer_of_the_jails_program_passes_nothing() -> None:
    test = Case("[1]", "null")
    assert passes({"value": None}, test, True)
    for answer in ({}, {"error": "KeyError"}, {"output": "null"}, None, [], "null"):
        assert not passes(answer, test, True)
        assert not passes({"value": None}, test, False)
