"""Which environments hold a question of a benchmark: shared runs of words. Pure.

A question is held when a text has most of its runs of ``RUN`` words, whatever stands between them:
the usual measure of contamination, counted on the side of the question, so that a long program does
not hide a short question.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from envgen.publish.programs import constants

RUN = 8
SHORTEST = 5
"""Words that a question has at least; shorter ones stand in many texts by chance."""
LEAST_SHARED = 3
"""Runs of words that the variants of a question share at least; fewer are a turn of speech."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Asked:
    """A question of a benchmark. ``name`` says which list it is from and where it stands there.

    ``variants`` are further instances of a question that is made anew each time: what all of them
    share is looked for, the form in which it is asked.
    """

    name: str
    text: str
    variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Held:
    """A question that a text holds, and the share of its runs of words that are there."""

    question: str
    share: float


class Questions:
    """Questions to look for, by their runs of words."""

    def __init__(self, questions: Iterable[Asked] = ()) -> None:
        self._names: list[str] = []
        self._sizes: list[int] = []
        self._where: dict[int, list[int]] = {}
        self.add(questions)

    def add(self, questions: Iterable[Asked]) -> int:
        """Look for these too; return how many of them are long enough for that."""
        before = len(self)
        for question in questions:
            runs = set(_runs(_words(question.text)))
            for other in question.variants:
                runs &= set(_runs(_words(other)))
            if len(runs) < (LEAST_SHARED if question.variants else 1):
                continue
            number = len(self._names)
            self._names.append(question.name)
            self._sizes.append(len(runs))
            for run in runs:
                self._where.setdefault(run, []).append(number)
        return len(self) - before

    def __len__(self) -> int:
        return len(self._names)

    def held(self, text: str, least: float) -> Held | None:
        """Return the question that a text holds most of, if it has the share ``least`` of one."""
        words = _words(text)
        counts: Counter[int] = Counter()
        # Questions of fewer words than a run are one run of their own length.
        sizes = range(SHORTEST, RUN + 1)
        for run in {run for size in sizes for run in _runs_of(words, size)}:
            counts.update(self._where.get(run, ()))
        shares = [(count / self._sizes[number], -number) for number, count in counts.items()]
        share, number = max(shares, default=(0.0, 0))
        return Held(self._names[-number], share) if shares and share >= least else None


def told_by(source: str, hint: str, transcript: str) -> str:
    """Return all that an environment may say: its program, the texts in it, its hint, and a play.

    Texts are taken as they are said, without the escapes that they are written with.
    """
    texts = [text for _, text in constants(source)]
    return "\n".join([source, *texts, hint, *texts_in(json.loads(transcript or "[]"))])


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts of the messages of a chat, however they are nested."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one)
    elif isinstance(value, dict):
        yield from texts_in(value.get("content"))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _runs(words: Sequence[str]) -> Iterator[int]:
    if len(words) >= SHORTEST:
        yield from _runs_of(words, min(RUN, len(words)))


def _runs_of(words: Sequence[str], size: int) -> Iterator[int]:
    for start in range(len(words) - size + 1):
        yield hash((size, *words[start : start + size]))
