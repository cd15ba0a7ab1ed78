"""Where a text may give the answer away; each suspicion is then tried out by playing. Pure.

A leak is a text that a player sees while the play is still open, that tells the action which the
reference solution plays next, and from whose very state that action wins. So three things are no
leak: an answer shown after its chance has passed, a choice among offers, and something that has to
be remembered. Finding one is therefore done in two steps: ``suspects`` reads the texts, and whoever
calls it plays ``before`` and then ``rest`` afresh. Only a win confirms it.

A text tells an answer when

- it says so: ``the answer is X``, ``[debug] target=X``, and after an action also ``expected X``
  or ``should have been X``;
- after an action that was not on offer X stands in the text, stood in none before it, is not one
  of several offers or moves, and is no word that the solutions of other seeds use as well (``left``
  is a move, not an answer). An action on offer, such as ``look``, may well find the answer;
- it holds all of a solution of three actions or more in a row.

For tools, whose results are there to be read, only the first way counts: after a call that is
wrong, or from a tool that the reference solution does not need; and what ``foundout`` finds.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from envgen.certificate.foundout import calls_of, given_away, secrets_of
from envgen.certificate.hint import SHORTEST_ANSWER, action_words, normal, spoken
from envgen.certificate.offers import offers
from envgen.certificate.plays import Instance, Trace, said

VERB = r"(?:is|was|were|would be|would have been|should be|should have been|must be)"
SAYS = rf"\b(?:answer|solution)(?: {VERB})?"
SAYS_PLAINLY = rf"\b(?:answer|solution|secret|password)(?: \w+)? {VERB}"
SAYS_LATE = (
    r"\b(?:expected|should have (?:been|gone|said|chosen)|should be"
    r"|correct(?: \w+)?(?: (?:is|was))?|right (?:\w+ )?(?:is|was))(?: \w+){0,2}?"
)
SAYS_DEBUGGING = (
    r"(?<![a-z])(?:answer|solution|secret|target|expected|correct|password|code)[a-z_]{0,12}['\"]?"
    r"\s?[=:]\s?['\"(\[]{0,2}"
)
SECRET = r"\b(?:answer|solution|pin|password|passcode|secret|code)(?: \w+)?"
SECRET_OF_ERROR = (
    r"\b(?:expected|should (?:have been|be)|(?:correct|right)(?: \w+)? (?:is|was|would be))"
    r"(?: (?!version|revision)\w+)?"
)
SECRET_OF_SURPLUS = rf"\b(?:answer|solution)(?: {VERB})?"
SECRET_OF_DUMP = rf"\b(?:answer|solution|secret|password)(?: {VERB})?"
READ = 20_000
MOST = 3

Marks = tuple[tuple[int, int], ...]
"""Where a probe's mistakes are: (how many actions were played then, how many were right ones)."""


@dataclass(frozen=True)
class _Words:
    """Actions of all solutions, and those that half of the other seeds use too."""

    common: frozenset[str]
    moves: frozenset[str]


@dataclass(frozen=True)
class Suspect:
    """After ``before`` was played on ``seed``, ``text`` told ``answer``; ``rest`` should win."""

    seed: int
    before: tuple[str, ...]
    rest: tuple[str, ...]
    answer: str
    text: str


def suspects(
    instances: Sequence[Instance],
    lost: Sequence[Trace],
    probes: Sequence[tuple[Marks, Trace]],
    tools: bool,
    plays: Sequence[Trace] = (),
) -> list[Suspect]:
    """Return at most ``MOST`` suspicions for each seed.

    ``lost`` are plays without a right action; probes are plays of the solution with mistakes,
    ``plays`` those of the solution.
    """
    found: list[Suspect | None] = []
    used = {
        one.seed: frozenset(normal(action_words(action)) for action in one.solution)
        for one in instances
        if one.solution
    }
    for one in (one for one in instances if one.solution):
        words = _words(one.seed, used)
        for marks, trace in (probe for probe in probes if probe[1].seed == one.seed):
            for place, done in marks:
                if place <= len(trace.turns):
                    found.append(_judge(one, trace, done, place, words, tools))
        for trace in (trace for trace in lost if trace.seed == one.seed):
            for place in range(len(trace.turns) + 1):
                found.append(_judge(one, trace, 0, place, words, tools))
        if tools:
            found += _found_out(one, plays, lost)
    by_seed: dict[int, list[Suspect]] = {}
    for suspect in found:
        some = by_seed.setdefault(suspect.seed, []) if suspect is not None else []
        if suspect is not None and len(some) < MOST and suspect not in some:
            some.append(suspect)
    return [suspect for some in by_seed.values() for suspect in some]


def _found_out(one: Instance, plays: Sequence[Trace], lost: Sequence[Trace]) -> list[Suspect]:
    """Return what lost plays of a seed are told though it has to be found out."""
    solution = one.solution or ()
    secrets = [s for play in plays if play.seed == one.seed for s in secrets_of(play)]
    found = []
    for number, trace in enumerate(trace for trace in lost if trace.seed == one.seed):
        # All of them begin with the same instruction.
        for place in range(1 if number else 0, len(trace.turns) + 1):
            turn = trace.turns[place - 1] if place else None
            if turn is not None and turn.ended:
                continue
            away = given_away(secrets, solution, trace, place)
            if away:
                text = said(turn.observation if turn else trace.first)[:READ]
                before = tuple(turn.action for turn in trace.turns[:place])
                found.append(Suspect(one.seed, before, away[1], away[0], text))
    return found


def _judge(
    one: Instance, trace: Trace, done: int, place: int, words: _Words, tools: bool
) -> Suspect | None:
    """Judge the text that followed ``place`` actions, ``done`` of which were right ones."""
    turn = trace.turns[place - 1] if place else None
    solution = one.solution or ()
    if turn is not None and turn.ended:
        return None
    told = _Told(trace, place)
    if tools:
        answer = _told_by_tool(solution, done, told)
    else:
        answer = _told_by_text(solution[done:], told, words)
        whole = spoken(solution) if len(solution) > 2 else ""
        if not answer and whole and whole in told.plain and whole not in told.action:
            answer = whole
    if not answer:
        return None
    actions = tuple(turn.action for turn in trace.turns[:place])
    return Suspect(one.seed, actions, solution[done:], answer, told.text)


class _Told:
    """A text of a trace, with the action that brought it and what was told before."""

    def __init__(self, trace: Trace, place: int) -> None:
        self.trace, self.place = trace, place
        turn = trace.turns[place - 1] if place else None
        self.text = said(turn.observation if turn else trace.first)[:READ]
        self.called = turn.action if turn else ""
        self.plain = _plain(self.text)
        self.action = _plain(action_words(self.called)[:READ])

    def holds(self, answer: str) -> bool:
        """Whether the text holds the answer, and not because the action did."""
        whole = f" {answer} "
        return bool(answer) and whole in self.plain and whole not in self.action

    def fresh(self, answer: str) -> bool:
        """Whether no text before held the answer."""
        turns = self.trace.turns[: max(0, self.place - 1)]
        before = [said(self.trace.first), *(said(turn.observation) for turn in turns)]
        return self.place > 0 and not any(f" {answer} " in _plain(text[:READ]) for text in before)

    def offers(self, answer: str) -> bool:
        """Whether the answer is one of several offered choices."""
        choices = {normal(choice) for choice in offers(self.text)} - {self.action.strip()}
        return answer in choices and len(choices) > 1

    def says(self, cue: str, answer: str) -> bool:
        """Whether a cue stands before the answer."""
        return (
            f" {answer}" in self.plain
            and re.search(rf"{cue} {re.escape(answer)}\b", self.plain) is not None
        )

    def betrays(self, action: str) -> bool:
        """Whether the raw text holds the action as a value that was printed for debugging."""
        raw = re.escape(action.lower())
        return re.search(rf"{SAYS_DEBUGGING}{raw}(?![\w.]*\w)", self.text.lower()) is not None

    def lists(self, answer: str, moves: frozenset[str]) -> bool:
        """Whether the text also holds, as new, another action that some solution uses."""
        return any(
            len(move) >= SHORTEST_ANSWER and self.holds(move) and self.fresh(move)
            for move in moves - {answer}
        )

    def on_offer(self) -> bool:
        """Whether the action that brought this text was offered by a text before it."""
        before = self.trace.turns[self.place - 2].observation if self.place > 1 else ()
        texts = said(self.trace.first), said(before)
        return any(self.action.strip() in map(normal, offers(text)) for text in texts)


@lru_cache(maxsize=2048)
def _plain(text: str) -> str:
    return f" {normal(text)} "


def _told_by_text(rest: Sequence[str], told: _Told, words: _Words) -> str:
    """Return the next action of the solution if a game's text tells it, else nothing."""
    action = action_words(rest[0])
    answer = normal(action)
    # What a longer play begins with may well stand in the rules.
    if not told.holds(answer) or (not told.place and len(rest) > 1):
        return ""
    long = len(answer) >= SHORTEST_ANSWER
    if told.says(SAYS_PLAINLY, answer) or (long and told.betrays(action)):
        return answer
    if told.offers(answer):
        return ""
    late = told.place > 0 and told.says(SAYS_LATE, answer)
    new = long and answer not in words.common and told.fresh(answer) and not told.on_offer()
    if late or told.says(SAYS, answer) or (new and not told.lists(answer, words.moves)):
        return answer
    return ""


def _told_by_tool(solution: Sequence[str], done: int, told: _Told) -> str:
    """Return an argument of the solution if a tool's result tells it as the answer."""
    if not told.place:
        return ""
    calls = calls_of(told.called)
    needed = {name for play in solution for name, _ in calls_of(play)}
    # A conflict of versions has to name the present one; a wrong guess must not be corrected.
    asked = [solution[done]]
    cues: tuple[str, ...] = (f"{SECRET} {VERB}", SECRET_OF_ERROR)
    if not {name for name, _ in calls} <= needed:
        # A look-up that the author's solution skips may name codes; it does not name answers.
        asked.append(solution[-1])
        cues = (SECRET_OF_SURPLUS if any(given for _, given in calls) else SECRET_OF_DUMP,)
    for _, arguments in (call for play in asked for call in calls_of(play)):
        for answer in (normal(str(value)) for value in arguments.values()):
            long = len(answer) >= SHORTEST_ANSWER and told.holds(answer)
            if long and any(told.says(one, answer) for one in cues) and told.fresh(answer):
                return answer
    return ""


def _words(seed: int, used: Mapping[int, frozenset[str]]) -> _Words:
    """Sort out the words of all solutions for one seed; ``used`` has those of each seed."""
    others = [some for other, some in used.items() if other != seed]
    mine = used[seed]
    common = {word for word in mine if 2 * sum(word in some for some in others) >= len(others) > 0}
    return _Words(frozenset(common), mine.union(*others))
