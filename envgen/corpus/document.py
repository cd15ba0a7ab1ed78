"""One document of a corpus, made from a text or from a row of a table. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

TEXT_KEYS = ("text", "orig_doc")
LONGEST = 2**20
"""Characters of a document that are read at all; no context of a model holds more."""
WIDEST = 16
"""Characters that a token has at most, over a whole text."""
LONGEST_WORD = 40


@dataclass(frozen=True)
class Document:
    """One document; ``licence`` is empty when it is not known."""

    id: str
    title: str
    text: str
    licence: str


def from_text(name: str, text: str, licence: str = "") -> Document:
    """Return the document of a plain text; its first line is its title."""
    text = text[:LONGEST].strip()
    return Document(name, _title(text) or name, text, licence)


def from_row(row: Mapping[str, Any], name: str) -> Document:
    """Return the document of a row; its text may be blank.

    The text stands under `text` or `orig_doc`; ``id``, ``title`` and ``licence`` are optional, and
    ``name`` stands in for the id. Raises ``ValueError`` when there is no text.
    """
    text = next((row[key] for key in TEXT_KEYS if key in row), None)
    if not isinstance(text, str):
        raise ValueError(f"no text under {' or '.join(f'`{key}`' for key in TEXT_KEYS)}")
    made = from_text(str(row.get("id") or name), text, str(row.get("licence") or ""))
    title = str(row.get("title") or "").strip()[:120]
    return Document(made.id, title or made.title, made.text, made.licence)


def cut(text: str, most: int, size: Callable[[str], int]) -> str:
    """Return the longest start of a text that has at most ``most`` tokens, cut between words.

    ``size`` counts the tokens of a text. It is asked some twenty times and never about more than
    ``WIDEST * most`` characters, so a text of any length is cut quickly. Where a language has no
    spaces the cut is where the tokens end.
    """
    fits, beyond = 0, min(len(text), WIDEST * most)
    if beyond == len(text) and size(text) <= most:
        return text
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        if size(text[:middle]) <= most:
            fits = middle
        else:
            beyond = middle
    if not text[fits : fits + 1].isspace():
        space = max(text.rfind(mark, max(0, fits - LONGEST_WORD), fits) for mark in " \n\t")
        fits = space if space > 0 else fits
    return text[:fits].rstrip() or text[:1]


def _title(text: str) -> str:
    """Return the first line of a text without Markdown's marks, cut at 120 characters."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first.lstrip("# ").strip()[:120]
