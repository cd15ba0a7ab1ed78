"""What a tool-use environment asks to be found out, and where a text gives it away. Pure.

A secret is an argument of the reference solution that its own calls find out: a result told it, or
it is worked out of the numbers that results told. What a user names, or the author knows by heart,
is none. A secret is given away, in a play without any right action,

- by the answer to a call that guessed it wrong: ``expected 4711, got 1``. A listing of what there
  is (``no such room; rooms are 12, 14``) and a bound (``at least 4500``) are no such answers;
- by a tool that the reference does not call, where the secret has to be worked out;
- by what looks like a line for debugging: ``debug 4711``, ``[internal: pin=4711]``.

A user gives it away by such a line, or with ``(expected: 4711)``; and by a whole call that is ready
to be made, whatever is in it. What was given away is tried out: the reference is played on without
the calls that find it out.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from envgen.certificate.hint import normal
from envgen.certificate.plays import Trace, Turn, said

SHORTEST = 3
READ = 20_000
MOST_NUMBERS = 64
NUMBER = re.compile(r"(?<![\w.])-?[0-9]{1,12}(?:\.[0-9]{1,6})?(?![\w]|\.[0-9])")
BOUND = re.compile(
    r"\b(?:at (?:least|most)|min|minimum|max|maximum|balance|only|left|remaining|available|limit"
    r"|free|stock|exceeds?|up to|between|from|more|less|over|under|range|next|did you mean"
    r"|version|revision)\b"
)
CORRECTION = (
    r"\b(?:expected|should (?:have been|be)|(?:correct|right)(?: \w+)? (?:is|was|would be))"
)
DEBUGGING = r"\b(?:debug|internal|hidden|answer|solution)\b(?: \w+){0,2}?"
BRACKETED = (
    r"[\[(][^\])\n]{0,24}\b(?:answer|solution|expected|correct|secret|debug|internal|hidden)\b"
)
READY = r"[^\n]{0,200}?"


@dataclass(frozen=True)
class Secret:
    """A value, the tool and the argument it is for, and the reference's turns that find it out.

    ``use`` is the turn that first needs it. ``worked_out``: no result tells it as it is.
    """

    value: str
    tool: str
    argument: str
    use: int
    earned: frozenset[int]
    worked_out: bool


Call = tuple[str, dict[str, Any]]


@lru_cache(maxsize=1024)
def calls_of(action: str) -> Sequence[Call]:
    """Return (tool, arguments) of an action; an <answer>, which is no call, as one of no tool."""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        told = json.loads(action)
        calls = [(c["name"], dict(c["arguments"])) for c in told["tool_calls"]]
        answer = re.search(r"<answer>(.*)</answer>", str(told.get("content")), re.DOTALL)
        return calls or ([("", {"answer": answer[1]})] if answer else [])
    return []


def secrets_of(play: Trace) -> list[Secret]:
    """Return the secrets of a play of the reference, in the order in which it uses them."""
    found: list[Secret] = []
    results = [_results(turn) for turn in play.turns]
    plain = [f" {normal(text)} " for text in results]
    known: set[str] = set()
    for use, turn in enumerate(play.turns):
        for tool, argument, given in _arguments(turn.action):
            value = normal(str(given))
            if len(value) < SHORTEST or value in known:
                continue
            known.add(value)
            told = next((n for n in range(use) if f" {value} " in plain[n]), None)
            if told is not None:
                found.append(Secret(value, tool, argument, use, frozenset([told]), False))
                continue
            parts = _parts(given, results[:use])
            if parts:
                found.append(Secret(value, tool, argument, use, parts, True))
    return found


def given_away(
    secrets: Sequence[Secret], reference: Sequence[str], trace: Trace, place: int
) -> tuple[str, tuple[str, ...]] | None:
    """Return what the text after ``place`` actions of a lost play gives away, if it does.

    That is (the value or call, the reference's actions that are still needed then).
    """
    if not place:
        text = said(trace.first)[:READ]
        ready = _ready(reference, text)
        if ready:
            return ready
        told = next((s for s in secrets if _hinted(s, text)), None)
        return (told.value, _without(reference, told)) if told else None
    if not secrets:
        return None
    turn = trace.turns[place - 1]
    text = _results(turn)
    lowered = text.lower()
    held = [secret for secret in secrets if secret.value.partition(" ")[0] in lowered]
    if not held:
        return None
    plain = f" {normal(text)} "
    called = f" {normal(turn.action)} "
    needed = {tool for action in reference for tool, _ in calls_of(action)}
    for secret in held:
        whole = f" {secret.value} "
        if whole not in plain or whole in called or _told_before(trace, place, whole):
            continue
        debugging = re.search(rf"{DEBUGGING} {re.escape(secret.value)} ", plain) is not None
        if debugging or _corrects(secret, turn, text, needed):
            return secret.value, _without(reference, secret)
    return None


def _without(reference: Sequence[str], secret: Secret) -> tuple[str, ...]:
    return tuple(action for n, action in enumerate(reference) if n not in secret.earned)


def _corrects(secret: Secret, turn: Turn, text: str, needed: set[str]) -> bool:
    """Whether the text answers a wrong guess, or is of a tool that nobody needs."""
    calls = calls_of(turn.action)
    guessed = any(tool == secret.tool and secret.argument in given for tool, given in calls)
    surplus = secret.worked_out and not {tool for tool, _ in calls} & needed
    if not (guessed or surplus):
        return False
    head = normal(text).partition(secret.value)[0]
    if BOUND.search(head):
        return False
    corrected = re.search(rf"{CORRECTION} $", head) is not None
    return corrected or not _listed(secret.value, text, turn.action)


def _listed(value: str, text: str, action: str) -> bool:
    """Whether the text lists other things of the same kind, so that there is still a choice."""
    words = re.findall(r"\w+", text)
    given = set(re.findall(r"\w+", action.lower()))
    mine = [word for word in words if word.lower() == value]
    if any(sign.isdigit() for sign in value):
        others = [w for w in words if w.lower() != value and w.lower() not in given]
        return any(_same_kind(mine[0], word) for word in others) if mine else False
    name = re.escape(value).replace(r"\ ", r"\W+")
    side = r"['\"\]]?\s?(?:,|;|\||/|\n|\band\b|\bor\b)"
    return bool(
        re.search(rf"\b{name}{side}|(?:,|;|\||/|\n|\band|\bor)\s?['\"\[]?{name}\b", text, re.I)
    )


def _same_kind(one: str, two: str) -> bool:
    """Whether two words with digits look alike, such as TX123 and TX4567."""
    kinds = [re.sub(r"[0-9]+", "0", word.lower()) for word in (one, two)]
    letters = [re.sub(r"[a-z]+", "a", kind) for kind in kinds]
    return letters[0] == letters[1] and abs(len(one) - len(two)) <= 1


def _hinted(secret: Secret, text: str) -> bool:
    """Whether a user's text tells the secret in a line that was not written for a user."""
    if secret.value.partition(" ")[0] not in text.lower():
        return False
    name = re.escape(secret.value).replace(r"\ ", r"\W+")
    bare = rf"\b(?:answer|solution|debug|internal)\b[^.!?\n]{{0,24}}?[=:]\W{{0,3}}{name}\b"
    noted = rf"{BRACKETED}[^\])\n]{{0,24}}?[=: ]\W{{0,3}}{name}\b"
    return re.search(f"{bare}|{noted}", text, re.IGNORECASE) is not None


def _ready(reference: Sequence[str], text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return a call that a user's text spells as a program would, and all that it spells so."""
    kept, spelt = [], ""
    for action in reference:
        calls = calls_of(action)
        if not calls:
            kept.append(action)
        elif all(given and _spelt(tool, given, text) for tool, given in calls):
            kept.append(action)
            spelt = f"{calls[0][0]}({', '.join(f'{k}={v}' for k, v in calls[0][1].items())})"
    earlier = any(calls_of(action) and action not in kept for action in reference)
    return (spelt, tuple(kept)) if spelt and earlier else None


def _spelt(tool: str, given: dict[str, Any], text: str) -> bool:
    values = [re.escape(str(value)) for value in given.values()]
    if not tool or tool not in text or not any(len(value) >= SHORTEST for value in values):
        return False
    name = re.escape(tool)
    spelt = READY.join(values)
    form = rf"(?:\b{name}\s?\(|['\"]{name}['\"]\s?[,:}}]){READY}{spelt}"
    return re.search(form, text[:READ]) is not None


def _told_before(trace: Trace, place: int, whole: str) -> bool:
    earlier = [said(trace.first), *(_results(turn) for turn in trace.turns[: place - 1])]
    return any(whole in f" {normal(text[:READ])} " for text in earlier)


def _results(turn: Turn) -> str:
    """Return what tools answered, without what a user said."""
    told = [message.content for message in turn.observation if message.role == "tool"]
    return "\n".join(told)[:READ]


def _arguments(action: str) -> Iterator[tuple[str, str, Any]]:
    for tool, given in calls_of(action):
        for argument, value in given.items():
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                yield tool, argument, value


def _parts(value: Any, results: Sequence[str]) -> frozenset[int]:
    """Return which results told the numbers whose sum, or first less the others, is the value."""
    if isinstance(value, str) and not NUMBER.fullmatch(value):
        return frozenset()
    numbers: list[float] = []
    turns = set()
    for place, text in enumerate(results):
        some = [float(number) for number in NUMBER.findall(text)]
        if some:
            turns.add(place)
        numbers += some
    if not 2 <= len(numbers) <= MOST_NUMBERS:
        return frozenset()
    total = sum(numbers)
    fits = any(abs(float(value) - n) < 1e-6 for n in (total, 2 * numbers[0] - total))
    return frozenset(turns) if fits else frozenset()
