"""Reading a design, code and hint, out of a completion. Nothing is repaired."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)\n?```", re.DOTALL | re.IGNORECASE)
_HINT = re.compile(r"^\s*hint:[ \t]*(.+)", re.IGNORECASE | re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Design:
    """A completion that could be read."""

    source: str
    hint: str


@dataclass(frozen=True)
class Unreadable:
    """A completion that could not be read, and what the author should mend."""

    reason: str
    detail: str


def read_design(text: str, stop: str) -> Design | Unreadable:
    """Return the first fenced block that holds a class, and the hint line that follows it.

    ``stop`` is why the completion ended; one that was cut off at its token budget is not read,
    since half a program that happens to parse is not what the author meant.
    """
    if stop != "end":
        return Unreadable("cut_off", "the completion was cut off at its token budget; write less")
    for block in _FENCE.finditer(text):
        if "class " not in block[1]:
            continue
        hint = _HINT.search(text, block.end())
        if hint is None:
            return Unreadable("no_hint", "after the code write one line that starts with `hint:`")
        return Design(block[1].strip("\n") + "\n", " ".join(hint[1].split()))
    return Unreadable("no_code", "no fenced block with a class in it; put the program in ```python")
