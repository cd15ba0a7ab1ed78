"""What has to be found out with tools and where a text gives it away; answers that are too few."""

import ast
import random

import pytest

from envgen.certificate.checks import contract, nontrivial, solvable
from envgen.certificate.foundout import Secret, given_away, secrets_of
from envgen.certificate.leaks import suspects
from envgen.certificate.odds import GUESSABLE, alike, too_many
from envgen.certificate.players import call, reply
from envgen.certificate.plays import Instance, Trace, Turn
from envgen.certificate.shift import shifted
from envgen.certificate.source import check_source
from sandbox import JailInfo, Message, Observation

READ = call("read", {"slip": "red"})
OPEN = call("open", {"pin": "bakomi", "box": 7})
REFERENCE = (READ, OPEN)


def user(text: str) -> Observation:
    return (Message("user", text),)


def tool(text: str) -> Observation:
    return (Message("tool", text),)


def play(*turns: tuple[str, str], first: str = "Open my box.") -> Trace:
    return Trace(
        1, user(first), tuple(Turn(action, tool(text), 0.0, False, False) for action, text in turns)
    )


WON = play((READ, "the pin is bakomi"), (OPEN, "open"))


def test_a_secret_is_what_the_reference_learns_from_its_calls() -> None:
    [secret] = secrets_of(WON)
    assert secret == Secret("bakomi", "open", "pin", 1, frozenset([0]), worked_out=False)
    assert secrets_of(play((OPEN, "open"))) == []


@pytest.mark.parametrize("value", [480, 120])
def test_a_sum_and_a_rest_of_told_numbers_are_worked_out(value: int) -> None:
    told = play(
        (call("budget", {}), "300"),
        (call("spent", {}), "[80, 100]"),
        (call("file", {"n": value}), ""),
    )
    [secret] = secrets_of(told)
    assert secret.worked_out
    assert secret.earned == {0, 1}


@pytest.mark.parametrize(
    ("guess", "answer", "leaks"),
    [
        (call("open", {"pin": "a", "box": 1}), "error: not bakomi", True),
        (call("open", {"pin": "a", "box": 1}), "error: expected bakomi, got a", True),
        (call("open", {"pin": "a", "box": 1}), "error: wrong pin", False),
        (call("open", {"pin": "a", "box": 1}), "error: pins are bakomi, retufa, solino", False),
        (call("open", {"pin": "a", "box": 1}), "error: did you mean bakomi?", False),
        (call("open", {"pin": "bakomi", "box": 1}), "error: bakomi is of another box", False),
        (call("read", {"slip": "a"}), "it says bakomi", False),
        (call("read", {"slip": "a"}), "it says nothing. debug bakomi", True),
        (call("open", {"pin": "a", "box": 1}), "error: expected one of bakomi, retufa", False),
        (call("status", {}), "waits for bakomi", False),
    ],
)
def test_an_answer_to_a_wrong_guess_must_not_tell_the_right_one(
    guess: str, answer: str, leaks: bool
) -> None:
    found = given_away(secrets_of(WON), REFERENCE, play((guess, answer)), 1)
    assert bool(found) == leaks
    if found:
        assert found == ("bakomi", (OPEN,))


@pytest.mark.parametrize(
    ("answer", "leaks"),
    [
        ('{"open": false, "code": 4711, "tries": 0}', True),
        ("codes: 4711, 4712", False),
        ("at least 4711", False),
        ("47110", False),
    ],
)
def test_a_tool_that_nobody_needs_must_not_tell_what_is_worked_out(
    answer: str, leaks: bool
) -> None:
    reference = (call("read", {"n": 1}), call("read", {"n": 2}), call("open", {"code": 4711}))
    won = play((reference[0], "4000"), (reference[1], "711"), (reference[2], "open"))
    lost = play((call("status", {}), answer))
    assert bool(given_away(secrets_of(won), reference, lost, 1)) == leaks


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ("Open my box. [internal: pin=bakomi]", True),
        ("Open my box (expected: bakomi).", True),
        ("Open my box. DEBUG: bakomi", True),
        ("Call open(pin='bakomi', box=7).", True),
        ('Open my box. {"name": "open", "arguments": {"pin": "bakomi", "box": 7}}', True),
        ("Open my box, which has the pin bakomi.", False),
        ("Open my box; my password: bakomi.", False),
        ("Open box 7 (bakomi).", False),
        ("The open sign (pin it up) says bakomi.", False),
    ],
)
def test_a_user_may_name_things_but_not_spell_the_call(text: str, leaks: bool) -> None:
    found = given_away(secrets_of(WON), REFERENCE, play(first=text), 0)
    assert bool(found) == leaks


def test_what_is_given_away_is_played_without_the_calls_that_find_it_out() -> None:
    guess = call("open", {"pin": "a", "box": 1})
    lost = play((guess, "error: not bakomi"), (READ, "the pin is bakomi"))
    one = Instance(1, lost.first, REFERENCE)
    [found] = suspects([one], [lost], [], tools=True, plays=[WON])
    assert (found.before, found.rest, found.answer) == ((guess,), (OPEN,), "bakomi")


def test_a_call_that_is_the_whole_reference_may_be_spelt() -> None:
    lost = play(first="Call open(pin='bakomi', box=7).")
    assert given_away([], (OPEN, reply("Done.")), lost, 0) is None


@pytest.mark.parametrize(("possible", "refused"), [(3, 40), (4, 40), (5, 38), (10, 4), (20, 0)])
def test_forty_answers_tell_few_possible_ones_from_many(possible: int, refused: int) -> None:
    found = 0
    for seed in range(40):
        rng = random.Random(seed)
        same, pairs = alike([rng.randrange(possible) for _ in range(40)])
        found += too_many(same, pairs, GUESSABLE)
    assert found >= refused if possible < 10 else found <= refused


def test_too_few_answers_are_counted_in_the_message() -> None:
    check = nontrivial({"echo": (0, 3), "answers": (211, 780)}, "game", 4)
    assert check.verdict == "fail"
    assert "4 different" in check.message
    assert "27%" in check.message
    assert nontrivial({"answers": (39, 780)}, "game", 20).verdict == "pass"


def test_tool_use_without_tools_says_how_a_tool_is_written() -> None:
    info = JailInfo("AEnv", "t", "d", "tool_use", (), True, None)
    check = contract([], [], info)
    assert check.verdict == "fail"
    assert "tool_" in check.message


@pytest.mark.parametrize("on_reply", [False, True])
def test_a_missing_reply_is_named_where_instructions_wait_for_one(on_reply: bool) -> None:
    lost = play((OPEN, "open"))
    check = solvable([Instance(1, lost.first, (OPEN,))], [lost], None, 25, on_reply)
    assert check.verdict == "fail"
    assert ("reply without calls" in check.message) == on_reply


@pytest.mark.parametrize(
    ("lines", "draws"),
    [
        ("import random\nx = random.choice('ab')", True),
        ("import random as r\nx = r.random()", True),
        ("from random import choice", True),
        ("import random\nx = random.Random(1).choice('ab')", False),
        ("import random\nrandom.seed(1)\nx = random.choice('ab')", False),
        ("from random import Random", False),
        ("x = rng.choice('ab')", False),
    ],
)
def test_the_tree_tells_who_draws_from_a_generator_that_nobody_seeds(
    lines: str, draws: bool
) -> None:
    _, facts = check_source(lines + "\nclass AEnv: pass", 999)
    assert facts is not None
    assert facts.draws == draws


def test_the_shared_generator_is_only_shifted_where_it_is_asked_for() -> None:
    plain, other = shifted("class AEnv: pass"), shifted("class AEnv: pass", draws=True)
    assert "_random.seed" in other
    assert "_random.seed" not in plain
    assert ast.parse(other)
