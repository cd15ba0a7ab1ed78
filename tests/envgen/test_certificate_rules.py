"""The pure rules of the certificate: source, offers, luck, hints, clock, verdicts."""

import ast
import dataclasses
import json
import time

import pytest

from envgen.certificate import Check
from envgen.certificate.checks import left_to_sealed, nontrivial, seeded
from envgen.certificate.hint import check_hint, spoken
from envgen.certificate.leaks import suspects
from envgen.certificate.odds import tail, too_many
from envgen.certificate.offers import offers
from envgen.certificate.players import boxed, call, odd_actions, unboxed, wrong_for
from envgen.certificate.plays import Instance, Trace, Turn
from envgen.certificate.search import named_range, next_guess
from envgen.certificate.shift import shifted
from envgen.certificate.source import check_source
from sandbox import JailInfo, Message, Observation

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
    assert (facts.hashes, facts.looks_around) == (hashes, clock)


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


def seen(*texts: str) -> list[Observation]:
    return [(Message("user", text),) for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from 1 to 100", (1, 100)),
        ("between 5 and 60 metres", (5, 60)),
        ("one of 3-17", (3, 17)),
        ("1..20", (1, 20)),
        ("3 plus 4 and no more", None),
        ("12 and 3", None),
        ("version 1.5 to go", None),
        ("", None),
    ],
)
def test_a_range_is_two_rising_numbers_with_a_word_between(
    text: str, expected: tuple[int, int] | None
) -> None:
    assert named_range(text) == expected


@pytest.mark.parametrize(
    ("texts", "guess"),
    [
        (["from 1 to 100"], "50"),
        (["from 1 to 100", "higher"], "75"),
        (["from 1 to 100", "too low", "too high"], "62"),
        (["from 1 to 100", "now between 1 and 9"], "5"),
        (["from 1 to 5", "no", "no"], "4"),
        (["from 1 to 2", "no", "no"], None),
        (["a number"], None),
    ],
)
def test_the_halving_player_halves_and_then_tries_neighbours(
    texts: list[str], guess: str | None
) -> None:
    assert next_guess(seen(*texts)) == guess


def play_of(*turns: tuple[str, str], first: str = "Sum?", ended: bool = False) -> Trace:
    steps = [Turn(action, seen(text)[0], 0.0, False, False) for action, text in turns]
    if ended:
        steps[-1] = dataclasses.replace(steps[-1], terminated=True)
    return Trace(1, seen(first)[0], tuple(steps))


@pytest.mark.parametrize(
    ("trace", "leaks"),
    [
        (play_of(("7", "no, it makes 5612")), True),
        (play_of(("7", "no"), ("8", "no: 5612")), True),
        (play_of(("7", "no, it makes 5612"), ended=True), False),
        (play_of(("5612 zz", "you said 5612 zz")), False),
        (play_of(("7", "no"), first="Sum? (The answer is 5612.)"), True),
        (play_of(("7", "not larger than 5612"), first="From 1 to 5612"), False),
        (play_of(("7", "expected 5612"), first="From 1 to 5612"), True),
        (play_of(("7", "choose one of: 5612, 5613, 5614")), False),
        (play_of(("7", "no")), False),
        (play_of(("7", "no (target=5612)"), first="From 1 to 5612"), True),
        (play_of(("7", "no (target=56123)"), first="From 1 to 5612"), False),
        (play_of(("look", "a scratch: 5612"), first="Choose one of: look, wait"), False),
        (play_of(("zz", "a scratch: 5612"), first="Choose one of: look, wait"), True),
        (play_of(("7", "ways on: 5612, 77")), False),
    ],
)
def test_a_text_is_suspected_when_it_tells_the_next_action(trace: Trace, leaks: bool) -> None:
    instances = [Instance(1, trace.first, ("5612",)), Instance(2, trace.first, ("77",))]
    assert bool(suspects(instances, [trace], [], tools=False)) == leaks


def test_a_move_that_other_seeds_use_too_is_no_secret() -> None:
    trace = play_of(("left", "A wall. You see a door on the right."))
    instances = [Instance(n, trace.first, ("right", "left")) for n in (1, 2, 3)]
    assert suspects(instances, [], [(((1, 0),), trace)], tools=False) == []


def test_a_suspicion_says_what_to_play_to_prove_it() -> None:
    trace = play_of(("12", "next"), ("99", "no, 34 would have been right"), ("34", "next"))
    instances = [Instance(1, trace.first, ("12", "34", "56")), Instance(2, trace.first, ("7", "8"))]
    [found] = suspects(instances, [], [(((2, 1),), trace)], tools=False)
    assert (found.before, found.rest, found.answer) == (("12", "99"), ("34", "56"), "34")


def test_a_listing_tells_codes_but_a_dump_tells_answers() -> None:
    play = (call("hand_out", {"code": 4711}),)
    for result, leaks in (("saw: code 4711", False), ('{"secret": 4711}', True)):
        trace = play_of((call("list_all", {}), result), first="Hand out the saw.")
        instances = [Instance(1, trace.first, play), Instance(2, trace.first, play)]
        assert bool(suspects(instances, [trace], [], tools=True)) == leaks


def test_one_play_that_wins_all_seeds_of_a_game_is_no_variety() -> None:
    def at(seed: int, answer: str | None) -> Instance:
        solution = None if answer is None else (answer,)
        return Instance(seed, seen(f"Instance {seed}")[0], solution)

    idle = [play_of(("", "no"))]
    won = Turn("42", seen("yes")[0], 1.0, terminated=True, truncated=False)
    wins = [Trace(1, seen("six by seven")[0], (won,))]
    same, varied = [at(n, "same") for n in range(8)], [at(n, str(n // 5)) for n in range(8)]
    assert seeded(same, [idle], wins, "game").verdict == "fail"
    assert seeded(same, [idle], wins, "tool_use").verdict == "pass"
    assert seeded(varied, [idle], wins, "game").verdict == "pass"
    assert seeded([at(n, None) for n in (1, 2)], [idle], [], "game").verdict == "pass"
    # The same reference everywhere, and it does not win: the reference is what is wrong.
    assert seeded(same, [idle], idle, "game").verdict == "pass"
    # What differs may be hidden: an action brings it out.
    hidden = [Instance(n, seen("Guess")[0], None) for n in range(3)]
    assert seeded(hidden, [idle * 3], [], "game").verdict == "fail"
    answered = [play_of(("5", "higher")), play_of(("5", "lower"))]
    assert seeded(hidden, [idle * 3, answered], [], "game").verdict == "pass"


def test_a_mistake_has_the_form_of_an_answer() -> None:
    assert wrong_for("\\boxed{12}", ["\\boxed{12}", "\\boxed{31}"]) == "\\boxed{31}"
    assert wrong_for("\\boxed{12}", []) == "\\boxed{zz}"
    spoilt = json.loads(wrong_for(call("pay", {"to": "Bo", "coins": 3, "now": True}), []))
    assert spoilt["tool_calls"][0]["arguments"] == {"to": "Box", "coins": 4, "now": True}


def test_halving_is_a_skill_unless_there_was_nothing_to_search() -> None:
    assert nontrivial({"halving": (2, 5)}, "game").verdict == "pass"
    assert nontrivial({"halving": (3, 5)}, "game").verdict == "fail"
    assert nontrivial({"random": (3, 8)}, "game").verdict == "fail"


def test_borrowed_solutions_refuse_only_where_hardly_anything_else_is_looked_at() -> None:
    assert nontrivial({"borrowed": (5, 5)}, "game").verdict == "pass"
    assert nontrivial({"borrowed": (19, 37)}, "game").verdict == "pass"
    assert nontrivial({"borrowed": (24, 37)}, "game").verdict == "fail"


def test_a_text_that_tells_is_named_before_the_player_that_repeats_it() -> None:
    lost = nontrivial({"echo": (3, 3)}, "game")
    told = Check("sealed", "fail", "")
    placed = Check("sealed", "fail", "", {"rule": "span no. 1"})
    assert left_to_sealed(lost, "echo", placed).verdict == "unknown"
    assert left_to_sealed(lost, "first", told).verdict == "unknown"
    assert left_to_sealed(lost, "first", placed) is lost
    assert left_to_sealed(lost, "nothing", told) is lost
    assert left_to_sealed(lost, "echo", Check("sealed", "pass", "")) is lost


def test_a_hint_that_spells_the_answer_says_it() -> None:
    assert check_hint("Write a m b e r, joined up.", [["amber"]]).verdict == "fail"
    assert check_hint("Compare a, b and c.", [["amber"]]).verdict == "pass"


def test_the_shifted_clock_stands_before_the_code_whatever_the_docstring_holds() -> None:
    source = '"""One.\x0c\x0c\nTwo.\x85\n"""\nimport time\n'
    body = ast.parse(shifted(source)).body
    assert isinstance(body[0], ast.Expr)
    assert isinstance(body[1], ast.Import)
    assert body[1].names[0].asname == "_time"
