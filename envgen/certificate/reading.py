"""A player without skill who answers with what stands at a fixed place of each text. Pure.

Where an answer stands at the same place on nearly every seed ("What is 3+4? (it is 7)", or alone
on the second line), one rule of reading wins everywhere. That an answer stands somewhere among
other candidates is no evidence; only a rule that holds for all instances alike is. A rule has a
start (the n-th word, number, line or quoted span from either end, or what follows a certain word)
and an end (so many words, the end of the line, or a closing sign).

``readers`` looks for rules that tell the actions of the reference plays; whoever calls it has
the reader win afresh, on these seeds and on others.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from envgen.certificate.hint import action_words
from envgen.certificate.plays import Player, Trace, said
from sandbox import Observation

READ = 8_000
PLACES = 12
"""So many words, numbers, lines and spans are counted from either end."""
OCCURRENCES = 12
MISSES = 1
"""A rule may fail on so many reference plays."""
LONGEST = 200
CHAIN = 4
WORD = re.compile(r"[^\s,;:()\[\]{}\"'`<>=|]+")
NUMBER = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]+)?")
LINE = re.compile(r"^[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
SPAN = re.compile(
    r"\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)|`([^`\n]{1,200})`"
    r"|\(([^()\n]{1,200})\)|\[([^\[\]\n]{1,200})\]|<([^<>\n]{1,200})>|\{([^{}\n]{1,200})\}"
)
BETWEEN = re.compile(r"[\s:=>|(\[{\"'`]*")
CLOSE = re.compile(r"[\n)\]}>\"`;]|'(?!\w)|[.!?](?:\s|$)")
KINDS = {"word": WORD, "number": NUMBER, "line": LINE, "span": SPAN}


@dataclass(frozen=True)
class Rule:
    """Where to read: ``start`` is (kind, place) or ("after", place) with its ``cue``.

    ``place`` counts from 0, negative ones from the end; ``words`` is how many words are read, 0 for
    the rest of the line, -1 for all up to a closing sign.
    """

    kind: str
    place: int
    words: int
    cue: str = ""

    def __str__(self) -> str:
        """The rule in words."""
        if self.cue:
            return f"words after {self.cue!r}"
        last = self.place < 0
        return f"{self.kind} no. {-self.place if last else self.place + 1}" + last * " from the end"

    def read(self, text: str) -> str:
        """Return what the rule reads in a text, or nothing."""
        text = window(text)
        at = self._start(text)
        if at is None:
            return ""
        if self.words > 0:
            found = list(islice(WORD.finditer(text, at), self.words))
            end = found[-1].end() if found else at
        else:
            close = text.find("\n", at) if self.words == 0 else _close(text, at)
            end = close if close >= 0 else len(text)
        return clean(text[at:end])

    def _start(self, text: str) -> int | None:
        if self.kind == "after":
            cues = [match.end() for match in _whole(self.cue, text)]
            if not cues or (self.place > 0 and len(cues) <= self.place):
                return None
            between = BETWEEN.match(text, cues[self.place])
            return between.end() if between else None
        found = [match.start(match.lastindex or 0) for match in KINDS[self.kind].finditer(text)]
        within = -len(found) <= self.place < len(found)
        return found[self.place] if within else None


@dataclass(frozen=True)
class Reader:
    """A rule, used after so many right actions: what one had to know to begin with."""

    rule: Rule
    lead: int = 0

    def player(self, known: Sequence[str]) -> Player:
        """Return a player of the first ``lead`` known actions and then of the rule."""

        def answer(seen: Sequence[Observation]) -> str | None:
            if len(seen) <= self.lead:
                return known[len(seen) - 1]
            found = self.rule.read(said(seen[-1]))
            return "\\boxed{" + found + "}" if found else None

        return answer


def readers(plays: Sequence[Trace], most: int = 3) -> list[Reader]:
    """Return up to ``most`` readers that should win nearly all of these plays.

    They read each action from the text before it; or the last action at once, from the first text;
    or, in a play of ``CHAIN`` turns or more, each but the first.
    """
    found = [Reader(rule) for rule in _common([_pairs(trace) for trace in plays], most)]
    if not found and any(len(trace.turns) > 1 for trace in plays):
        found = [Reader(rule) for rule in _common([_last_at_once(trace) for trace in plays], most)]
    if not found and all(len(trace.turns) >= CHAIN for trace in plays):
        later = [_pairs(trace, 1) for trace in plays]
        found = [Reader(rule, 1) for rule in _common(later, most)]
    return found


def _common(plays: Sequence[Sequence[tuple[str, str]]], most: int) -> list[Rule]:
    told = [pairs for pairs in plays if pairs]
    if len(told) < len(plays) - MISSES or len(told) <= MISSES + 1:
        return []
    found: dict[Rule, None] = {}
    for pairs in told[: MISSES + 1]:
        text, answer = pairs[0]
        for rule in _candidates(text, answer):
            if rule not in found and _holds(rule, told):
                found[rule] = None
                if len(found) == most:
                    return list(found)
    return list(found)


def window(text: str) -> str:
    """Return the part of a text that is read: all of it, or its two ends."""
    return text if len(text) <= READ else text[: READ // 2] + "\n" + text[-READ // 2 :]


def clean(text: str) -> str:
    """Return an answer without the signs around it, words one space apart."""
    return " ".join(text.strip(" \t\n,;:!?\"'`()[]{}<>=|*_").removesuffix(".").split())


def _pairs(trace: Trace, lead: int = 0) -> list[tuple[str, str]]:
    """Return (text, action that won) for each turn from ``lead`` on; none if one text lacks it."""
    texts = [said(trace.first), *(said(turn.observation) for turn in trace.turns)]
    pairs = []
    for text, turn in zip(texts[lead:-1], trace.turns[lead:], strict=True):
        answer = clean(action_words(turn.action)).lower()
        if not _stands(answer, text):
            return []
        pairs.append((text, answer))
    return pairs


def _last_at_once(trace: Trace) -> list[tuple[str, str]]:
    answer = clean(action_words(trace.turns[-1].action)).lower() if trace.turns else ""
    first = said(trace.first)
    return [(first, answer)] if _stands(answer, first) else []


def _stands(answer: str, text: str) -> bool:
    return 0 < len(answer) <= LONGEST and answer in " ".join(text.lower().split())


def _holds(rule: Rule, told: Sequence[Sequence[tuple[str, str]]]) -> bool:
    misses = 0
    for pairs in told:
        misses += not all(rule.read(text).lower() == answer for text, answer in pairs)
        if misses > MISSES:
            return False
    return True


def _candidates(text: str, answer: str) -> Iterator[Rule]:
    """Yield the rules that read ``answer`` in ``text``."""
    text = window(text)
    if clean(text).lower() == answer:
        return  # Whoever repeats the whole text is another player.
    length = len(WORD.findall(answer))
    starts: list[tuple[str, int, str]] = []
    occurrences = [match.start() for match in _whole(answer, text)][:OCCURRENCES]
    for kind, pattern in KINDS.items():
        begins = [match.start(match.lastindex or 0) for match in pattern.finditer(text)]
        for at in occurrences:
            if at in begins:
                place = begins.index(at)
                back = place - len(begins)
                starts += [(kind, n, "") for n in (place, back) if -PLACES <= n < PLACES]
    for at in occurrences:
        cue = _word_before(text, at)
        if cue:
            ends = [match.end() for match in _whole(cue, text)]
            befores = [n for n, end in enumerate(ends) if _next(text, end) == at]
            starts += [
                ("after", n, cue)
                for place in befores
                for n in (place, place - len(ends))
                if n in (0, -1)
            ]
    for kind, place, cue in starts:
        for words in (length, 0, -1):
            rule = Rule(kind, place, words, cue)
            if rule.read(text).lower() == answer:
                yield rule


def _whole(words: str, text: str) -> Iterator[re.Match[str]]:
    """Yield where ``words`` stand as whole words, whatever the case and the spaces."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    return re.finditer(rf"(?<![\w.-]){pattern}(?![\w-]|\.\w)", text, re.IGNORECASE)


def _word_before(text: str, at: int) -> str:
    """Return the word before a place, unless it has a digit and so differs from seed to seed."""
    words = re.findall(r"[^\W\d_]{1,24}", text[max(0, at - 60) : at])
    if not words or _next(text, text.rfind(words[-1], 0, at) + len(words[-1])) != at:
        return ""
    return str(words[-1]).lower()


def _next(text: str, end: int) -> int:
    between = BETWEEN.match(text, end)
    return between.end() if between else end


def _close(text: str, at: int) -> int:
    match = CLOSE.search(text, at)
    return match.start() if match else -1
