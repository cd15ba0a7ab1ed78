"""The few words that say what a document is about: pure, deterministic, no model."""

import re
from collections import Counter
from collections.abc import Collection
from importlib.resources import files

from envgen.corpus.document import Document

WORD = re.compile(r"[a-z]{3,16}")
STOP = frozenset((files("envgen.corpus") / "stopwords.txt").read_text(encoding="utf-8").split())


def keywords(document: Document, n: int, *, preferred: Collection[str] = ()) -> tuple[str, ...]:
    """Return up to ``n`` lower-case words of the document, the most telling first.

    Words of the title count three times; ties go to the word that comes first. With ``preferred``
    (the words that a small policy can spell) those come first, and others only fill what is left.
    A plural counts as its singular when the document has, or ``preferred`` knows, the singular.
    """
    text = document.text.lower()
    words = WORD.findall(document.title.lower()) * 2 + WORD.findall(text)
    known = frozenset(preferred)
    present = known | set(words)
    counts: Counter[str] = Counter()
    for word in words:
        single = _singular(word, present)
        if single in known or single not in STOP:
            counts[single] += 1
    # Counter keeps the order of first appearance and `sorted` is stable, so ties are settled.
    ranked = sorted(counts, key=lambda word: (word not in known, -counts[word]))
    return tuple(ranked[:n])


def _singular(word: str, present: Collection[str]) -> str:
    candidates = (word[:-1], word[:-2]) if word.endswith("es") else (word[:-1],)
    if word.endswith("s") and not word.endswith("ss"):
        return next((single for single in candidates if single in present), word)
    return word
