"""The pure rules of the certificate: source, offers, luck, hints, clock, verdicts."""

import ast
import time

import pytest

from envgen.certificate import Check
from envgen.certificate.hint import check_hint, spoken
from envgen.certificate.odds import tail, too_many
from envgen.certificate.offers import offers
from envgen.certificate.players import boxed, odd_actions, unboxed
from envgen.certificate.shift import shifted
from envgen.certificate.source import check_source
from sandbox import JailInfo

GAME = JailInfo("AEnv", "t", "d", "game", (), True, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Actions: n, s, e, w.", ("n", "s", "e", "w")),
        ("Valid moves: left right", ("left", "right")),
        ("choose one of: red | green", ("red ", "green")),
        ("1. wait\n2) swim across", ("1", "wait", "2", "swim across")),
        ("You may [go, stay] here", ("go", "stay")),
        ("Sort [3, 1, 2]", ()),
        ("Pick one of [3, 1, 2]", ("3", "1", "2")),
        ("The beads are [a, b, a, b]", ()),
        ("(a remark in brackets)", ()),
        ("say 'yes' or `no`", ("yes", "no")),
        ("heads or tails?", ("heads", "tails")),
        ("left, right or up", ("left", "right", "up")),
        ("a number from 1 to 100", ()),
        ("it isn't Ana's", ()),
        ("", ()),
    ],
)
def test_offers_are_what_a_reader_would_see(text: str, expected: tuple[str, ...]) -> None:
    assert set(offers(text)) == {item.strip() for item in expected}


@pytest.mark.parametrize(
    "text",
    ["a, " * 40_000, "a" * 120_000, "a|" * 60_000, "(" * 60_000, "'" * 60_000, " or a" * 30_000],
)
def test_hostile_observations_are_read_quickly(text: str) -> None:
    started = time.process_time()
    offers(text)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("text", ["a_" * 900, "a " * 99, "x = " * 90, "a.b" * 600, "{" * 1_900])
def test_hostile_hints_are_read_quickly(text: str) -> None:
    started = time.process_time()
    check_hint(text, [["zz"]])
    assert time.process_time() - started < 0.5


def test_luck_refuses_less_than_once_in_a_hundred() -> None:
    for plays, most in ((4, 2), (8, 2), (40, 6)):
        assert not too_many(most, plays)
        assert too_many(most + 1, plays)
        assert tail(most + 1, plays) < 0.01
    assert tail(0, 8) == pytest.approx(1)
    assert not too_many(0, 0)


@pytest.mark.parametrize(
    ("hint", "verdict"),
    [
        ("Work backwards from the goal.", "pass"),
        ("Use 3 + 4 first, then look at columns (from the left).", "pass"),
        ("Both sides are equal: x is half of y.", "pass"),
        ("", "unknown"),
        (None, "unknown"),
        ("word " * 101, "fail"),
        ("```python\nx\n```", "fail"),
        ("def solve(x): go", "fail"),
        ("total = first + second", "fail"),
        ("check if a == b", "fail"),
        ("call sorted(words)", "fail"),
        ("take words[0]", "fail"),
        ('send {"name": "find"}', "fail"),
        ("It is WILLOW, of course.", "fail"),
        ("It is willows, of course.", "pass"),
        ("Go north, then... east, north!", "pass"),
        ("Go north, east, north!", "fail"),
        ("The seventh answer is 7 or a.", "pass"),
    ],
)
def test_hints_hold_ideas_but_no_code_and_no_answer(hint: str | None, verdict: str) -> None:
    plays = [["\\boxed{willow}"], ["north", "east", "north"], ["7"], ["a"]]
    assert check_hint(hint, plays).verdict == verdict


def test_a_tool_play_is_spoken_as_names_and_values() -> None:
    call = '{"content": "", "tool_calls": [{"name": "pay", "arguments": {"to": "Bo", "coins": 3}}]}'
    assert spoken([call]) == "pay bo 3"
    assert spoken(['{"content": 3', "\\boxed{A-1}"]) == "content 3 a 1"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "empty"),
        ("x" * 70_000, "bytes"),
        ("class AEnv\n", "line 1"),
        ("a\0b", "Python"),
        ("(" * 3_000, "nested"),
        ("-" * 60_000 + "1", "simplify"),
        ("a" + ".b" * 30_000, "simplify"),
        ("x = 1", "no public class"),
        ("class _AEnv: pass", "no public class"),
        ("class AEnv: pass\nclass BEnv: pass", "2 classes"),
        ("import torch\nclass AEnv: pass", "torch"),
        ("from . import x\nclass AEnv: pass", "standard library"),
    ],
)
def test_source_is_refused_with_what_to_mend(source: str, says: str) -> None:
    check, facts = check_source(source, 65_536)
    assert check.verdict == "fail"
    assert says in check.message
    assert facts is None


def test_an_optional_import_and_envkit_are_no_reason_to_refuse() -> None:
    source = "import envkit\ntry:\n    import numpy\nexcept ImportError: pass\nclass AEnv: pass"
    assert check_source(source, 999)[0].verdict == "pass"


@pytest.mark.parametrize(
    ("line", "hashes", "clock"),
    [
        ("x = list({'a', 'b'})", True, False),
        ("s = set(w)\nfor x in s: pass", True, False),
        ("x = hash('a')", True, False),
        ("x = 'a' in {'a', 'b'}", False, False),
        ("x = sorted({'a', 'b'})", False, False),
        ("from datetime import date", False, True),
        ("import random", False, False),
    ],
)
def test_the_tree_tells_where_hash_order_or_a_clock_could_matter(
    line: str, hashes: bool, clock: bool
) -> None:
    _, facts = check_source(line + "\nclass AEnv: pass", 999)
    assert facts is not None
    assert (facts.hashes, facts.reads_clock) == (hashes, clock)


def test_the_shifted_clock_keeps_docstring_and_future_imports_first() -> None:
    source = '"""Doc."""\nfrom __future__ import annotations\nimport time\nclass AEnv: pass\n'
    tree = ast.parse(shifted(source))
    assert ast.get_docstring(tree) == "Doc."
    assert isinstance(tree.body[1], ast.ImportFrom)
    assert ast.parse(shifted("class AEnv: pass"))


def test_boxes_come_on_and_off_once() -> None:
    assert boxed("a") == boxed(boxed("a")) == "\\boxed{a}"
    assert unboxed("\\boxed{a}") == unboxed("a") == "a"


def test_odd_actions_stay_below_a_frame_and_hold_no_right_answer() -> None:
    actions = odd_actions(GAME, ["\\boxed{go north}"])
    assert "" in actions
    assert boxed("go north") not in actions
    assert boxed("go") in actions
    assert all(len(action.encode()) < 32_768 for action in actions)


def test_a_check_is_a_value() -> None:
    assert Check("hint", "pass", "m") == Check("hint", "pass", "m", {})
