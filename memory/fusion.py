"""Two rankings become one: by meaning, and by words where the words are what was asked for."""

import re
from collections.abc import Sequence
from functools import lru_cache

_RRF = 60  # the usual constant of reciprocal rank fusion (Cormack et al., 2009)
_WORD = re.compile(r"\w+")
_ENDINGS = ("ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s", "y", "e")
# Words that say nothing about what a text is about.
_STOP_WORDS = """
a about above after again all an and any are as at away back be been before below but by can could
did do does down each every few find for from get give given goes had has have he her his how i if
in into is it its just like make many may me more most much must my no not of off on one only or
other our out over own same she should so some such take than that the their them then there these
they this those three through time to too turn two under until up use used using very was we were
what when where which while who whom whose why will with without would you your
"""
_STOP = frozenset(_STOP_WORDS.split())


def fuse(*rankings: Sequence[str]) -> dict[str, float]:
    """Return the reciprocal-rank score of every id: sum of 1 / (60 + rank), ranks from 1."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, one in enumerate(ranking, start=1):
            scores[one] = scores.get(one, 0.0) + 1.0 / (_RRF + rank)
    return scores


def answers(wanted: frozenset[str], text: str) -> bool:
    """Say whether a text holds at least half of the ``wanted`` terms.

    Ranks forget by how much: a text that shares one chance word with a long query would count as
    much for it as the right answer to a short one, and would come before what is nearest in meaning
    and says it in other words.
    """
    return 2 * len(wanted & terms(text)) >= len(wanted)


def terms(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that say what it is about."""
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP)


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    """Cut the endings of English inflection; both sides are cut alike, so crude is good enough."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
