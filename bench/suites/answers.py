"""Finding the answer in a reply. Pure functions of text; nothing is evaluated."""

import re
from collections.abc import Sequence

from sandbox import game_action

_BOX = "\\boxed{"
_TAG = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_FENCE = re.compile(r"```[ \t]*(\w*)[^\n]*\n(.*?)```", re.DOTALL)
_LETTER_LINE = re.compile(r"(?i)\banswer\b\W{0,4}(?:is\W{0,4})?\(?([A-Z])\)?(?![A-Za-z])")
_WRAPPED = re.compile(r"\\(?:text|textbf|mathbf|mathrm|mathit)\s*\{([^{}]*)\}")
_INTEGER = re.compile(r"[+-]?\d{1,30}")


def boxed(reply: str) -> str | None:
    r"""Return what stands in the last ``\boxed{...}`` with balanced braces."""
    action = game_action(reply)
    if not (action.startswith(_BOX) and action.endswith("}")):
        return None
    return action[len(_BOX) : -1].strip()


def integer(text: str | None) -> int | None:
    """Read a whole number as mathematicians write it: ``025``, ``1{,}024``, ``$204$``, ``36^\\circ``.

    An expression that would have to be computed is no number: the AIME asks for integers.
    """
    if text is None:
        return None
    plain = _WRAPPED.sub(r"\1", text)
    for mark in ("{,}", "\\,", "\\!", "\\;", "$", "^{\\circ}", "^\\circ", "\\%", "%", "°"):
        plain = plain.replace(mark, "")
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", plain).strip().rstrip(".").strip()
    plain = re.sub(r"^[A-Za-z]\w*\s*=\s*", "", plain)  # "n = 12"
    plain = re.sub(r"^(.*\d)\.0+$", r"\1", plain)
    return int(plain) if _INTEGER.fullmatch(plain) else None


def letter(reply: str, choices: Sequence[str]) -> str | None:
    """Return the chosen letter: in the last box, else in the last "answer is X" of the reply."""
    inner = boxed(reply)
    if inner is not None:
        plain = _WRAPPED.sub(r"\1", inner).strip(" ()[].:$").upper()
        found = re.match(r"([A-Z])(?![A-Za-z])", plain)
        return found[1] if found and found[1] in choices else None
    lines = [found.upper() for found in _LETTER_LINE.findall(reply)]
    known = [one for one in lines if one in choices]
    return known[-1] if known else None


def tagged(reply: str) -> str | None:
    """Return what stands in the last ``<answer>...</answer>``."""
    found = _TAG.findall(reply)
    return found[-1].strip() if found else None


def code(reply: str) -> str | None:
    """Return the last fenced block of Python; one without a language counts where none has it."""
    blocks = _FENCE.findall(reply)
    named = [body for language, body in blocks if language.lower() in ("python", "python3", "py")]
    bare = [body for language, body in blocks if not language]
    found = named or bare
    return found[-1] if found and found[-1].strip() else None
