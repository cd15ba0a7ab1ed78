"""What a source must be before anything reads it as a program, in time linear in its length."""

import re
import unicodedata
from typing import Final

from sandbox.faults import EnvironmentFault

MAX_DOTS: Final = 32
MAX_MARKS: Final = 30

_COOKIE: Final = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF8: Final = re.compile(r"utf8|utf[-_]8(?:[-_].*)?", re.IGNORECASE)
_DOTS: Final = re.compile(rf"\b(?:[^\W\d]\w*+[\s\\]*+\.[\s\\]*+){{{MAX_DOTS + 1}}}")


def check_source(source: str | bytes, largest: int) -> bytes:
    """Return the source as UTF-8; raises ``EnvironmentFault`` (load, contract) with one line."""
    try:
        text = source if isinstance(source, str) else source.decode("utf-8")
        data = text.encode()
    except UnicodeError:
        raise EnvironmentFault("load", "contract", "the source is not UTF-8 text") from None
    problem = _problem(text, len(data), largest) or _encoding(text)
    if problem:
        raise EnvironmentFault("load", "contract", problem)
    return data


def _problem(text: str, size: int, largest: int) -> str | None:
    if not text.strip():
        return "the source is empty"
    if size > largest:
        return f"the source has {size} bytes; at most {largest} are allowed"
    if "\0" in text:
        return "the source holds a NUL character"
    # Python's parser, which hosts use as well, takes memory with the square of the one and time with
    # the square of the other: gigabytes and seconds for a source of the allowed size.
    if _DOTS.search(text):
        return f"a dotted name has more than {MAX_DOTS} dots"
    if not text.isascii() and _most_marks(text) > MAX_MARKS:
        return f"more than {MAX_MARKS} combining marks follow one another"
    return None


def _encoding(text: str) -> str | None:
    """Refuse another encoding in the first two lines (PEP 263), however lines are counted.

    The jail does not obey it, but whoever imports the same text as a file would run another program.
    """
    for line in (*text.split("\n", 2)[:2], *re.split(r"\r\n?|\n", text, maxsplit=2)[:2]):
        match = _COOKIE.match(line)
        if match and not _UTF8.fullmatch(match[1]):
            return f"it names the encoding {match[1][:40]}; a source is UTF-8, so leave that out"
    return None


def _most_marks(text: str) -> int:
    most = run = 0
    for char in text:
        run = run + 1 if unicodedata.combining(char) else 0
        most = max(most, run)
    return most
