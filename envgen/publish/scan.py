"""What must not leave: secrets, paths of a machine, personal data, found in texts. Pure.

Secrets stop a release. Paths and personal data are told, because programs are full of invented ones.
A finding never shows all of what it found: the card that tells of it is public.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from envgen.publish.programs import constants
from memory import record_id

SECRETS = {
    "private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "API key": r"\bsk-[A-Za-z0-9_-]{20,}",
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})",
    "GitLab token": r"\bglpat-[\w-]{20,}",
    "AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b(?<!EXAMPLE)",
    "Google key": r"\bAIza[\w-]{35}",
    "Slack token": r"\bxox[abeprs]-[0-9A-Za-z-]{10,}",
    "payment key": r"\b[rs]k_live_[0-9a-zA-Z]{20,}",
    "package registry token": r"\b(?:npm_[A-Za-z0-9]{36}|pypi-AgEI[\w-]{50,})",
    "web token": r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
    "password in an address": r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"{}]{1,64}:[^\s/@'\"{}]{3,64}@[\w.-]+",
}
ASSIGNED = re.compile(
    r"(?i)(?<![A-Za-z0-9])(?:\w{0,40}[_-]|api|access|auth|private)?(?:key|token|secret|password|passwd)"
    r"[\"']?(?:\s*:\s*str)?\s*[:=]\s*[\"']([A-Za-z0-9+/_=-]{24,})[\"']"
)
RANDOM_BITS, RANDOM_HEX_BITS = 4.0, 3.0
"""Entropy of a character, in bits, from which on an assigned string looks drawn and not written."""
HEX = re.compile(r"(?i)[0-9a-f]{32,}")
EMAIL = re.compile(r"\b[\w.+-]{1,64}@((?:[a-z0-9-]{1,63}\.)+[a-z]{2,24})\b", re.IGNORECASE)
RESERVED = re.compile(
    r"(?i)(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|localhost|local)$"
)
PHONE = re.compile(
    r"(?<![\w.+-])(?:\+[1-9]\d{0,2}[ .-]?\(?\d{2,4}\)?(?:[ .-]?\d{2,4}){2,4}|\(\d{3}\) ?\d{3}-\d{4}"
    r"|\d{3}-\d{3}-\d{4})(?![\w-])"
)
PATHS = re.compile(
    r"(?<![\w/.])(?:/home/|/Users/|[A-Z]:\\Users\\)[A-Za-z0-9._-]{2,32}(?=[/\\\s'\"]|$)"
)
ESCAPED = re.compile(r"\\[nrt]")
"""A line break or a tab as programs and JSON write it: its letter hides where the next word begins."""
LEAST_SECRET = 12
BEFORE = 40
"""Characters before a finding that are shown with it."""
SENSITIVE = re.compile(r"(?i)(?:key|token|secret|passw)")
_SECRETS = [(kind, re.compile(pattern, re.ASCII)) for kind, pattern in SECRETS.items()]
KINDS = ("secret", "path", "e-mail address", "phone number")


@dataclass(frozen=True)
class Text:
    """A text that would leave. ``owner`` is the environment, play or document it belongs to."""

    owner: str
    name: str  # "source", "hint", ...
    text: str
    file: str = ""
    program: bool = False  # whether it is Python, whose strings are searched as they are said too


@dataclass(frozen=True)
class Finding:
    """Something in a text. ``shown`` is enough of it to know it again and no more."""

    kind: str  # one of KINDS
    owner: str
    place: str
    shown: str
    digest: str
    """Of all that was found: another one that begins alike is another finding."""
    file: str = ""
    excerpt: str = ""
    """What stands before it in its line, and its beginning; for those who decide, not for the card."""

    @property
    def id(self) -> str:
        """What ``--allow`` takes."""
        return record_id("finding", self.kind, self.owner, self.place, self.digest)[:10]

    @property
    def blocks(self) -> bool:
        """Whether nothing may leave while this is not allowed."""
        return self.kind == "secret"


@dataclass(frozen=True)
class _Span:
    """Where something was found, what it is, and the part of it that may be shown."""

    start: int
    end: int
    kind: str
    what: str
    mask: str


@dataclass(frozen=True)
class Machine:
    """What is known of this machine: values of secret variables by name, and its paths."""

    secrets: Mapping[str, str]
    paths: Sequence[str]

    @classmethod
    def of(cls, environment: Mapping[str, str], paths: Iterable[str]) -> "Machine":
        """Take what looks secret from environment variables, and all paths but the root."""
        secrets = {
            name: value
            for name, value in environment.items()
            if SENSITIVE.search(name) and len(value) >= LEAST_SECRET and value[0] != "/"
        }
        return cls(secrets, sorted({path for path in paths if path.strip("/")}))


def scan(texts: Iterable[Text], machine: Machine) -> list[Finding]:
    """Return what was found, each thing once per line, in the order of the texts."""
    found = (finding for text in texts for finding in _search(text, machine))
    return list(dict.fromkeys(found))


def _search(text: Text, machine: Machine) -> Iterator[Finding]:
    written = list(_scan(text, machine))
    yield from written
    known = {(one.kind, one.digest) for one in written}
    for line, said in constants(text.text) if text.program else ():
        # What stands in the source as it is said has been searched; a tab ends whatever a line ends.
        if said not in text.text:
            one_line = replace(text, name=f"{text.name} line {line}", text=said.replace("\n", "\t"))
            found = _scan(one_line, machine)
            yield from (one for one in found if (one.kind, one.digest) not in known)


def _scan(text: Text, machine: Machine) -> Iterator[Finding]:
    # Without the escapes the same places hold the same words, and where they begin is right.
    found = (*_spans(text.text, machine), *_spans(ESCAPED.sub("  ", text.text), machine))
    once = {(span.end, span.kind, span.what): span for span in found}.values()
    spans = sorted(once, key=lambda span: (span.start, -span.end))
    for span in spans:
        line = text.text.count("\n", 0, span.start) + 1
        place = f"{text.name} line {line}" if "\n" in text.text else text.name
        yield Finding(
            span.kind,
            text.owner,
            place,
            f"{span.what} {span.mask}".strip(),
            record_id("found", text.text[span.start : span.end]),
            text.file,
            _excerpt(text.text, span, spans),
        )


def _spans(text: str, machine: Machine) -> Iterator[_Span]:
    known = [
        _Span(*match.span(), "secret", kind, _masked(match[0]))
        for kind, pattern in _SECRETS
        for match in pattern.finditer(text)
    ]
    yield from known
    for match in ASSIGNED.finditer(text):
        start, end = match.span(1)
        if _drawn(match[1]) and not any(one.start < end and start < one.end for one in known):
            yield _Span(start, end, "secret", "assigned secret", _masked(match[1]))
    for name, value in machine.secrets.items():
        for start in _everywhere(text, value):
            shown = f"the value of the environment variable {name}"
            yield _Span(start, start + len(value), "secret", shown, "")
    for match in PATHS.finditer(text):
        yield _Span(*match.span(), "path", "somebody's home folder", "")
    for path in machine.paths:
        for start in _everywhere(text, path):
            if path.count("/") == 1 and not _whole(text, start, start + len(path)):
                continue
            shown = "a path of the machine that publishes"
            yield _Span(start, start + len(path), "path", shown, "")
    for match in EMAIL.finditer(text):
        if not RESERVED.search(match[1]):
            yield _Span(*match.span(), "e-mail address", "", f"{match[0][0]}...@{match[1]}")
    for match in PHONE.finditer(text):
        yield _Span(*match.span(), "phone number", "", _masked(match[0]))


def _everywhere(text: str, part: str) -> Iterator[int]:
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + len(part))


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a path of one part stands for itself, and is no part of another path or word."""
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    return not re.match(r"[\w./-]", before) and not re.match(r"[\w.-]", after)


def _excerpt(text: str, span: _Span, spans: Sequence[_Span]) -> str:
    """Return what stands before a finding in its line, whatever was found there masked, and its mask.

    What comes after is not shown: where a secret ends is not certain.
    """
    first = max(text.rfind("\n", 0, span.start) + 1, span.start - BEFORE)
    shown, at = "", first
    for one in spans:
        if one.start >= span.start:
            break
        if one.end > at:
            shown += text[at : max(at, one.start)] + (one.mask or "...")
            at = min(one.end, span.start)
    return (shown + text[at : span.start] + (span.mask or "...")).strip()


def strings(text: str) -> str:
    """Return the strings of a JSON text, one a line, as they are said; any other text as it is.

    Escaped, a line break stands as the letter n before what follows it, and hides where a word begins.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "\n".join(_strings(value)) if isinstance(value, list | dict) else text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, str) and "\n" not in one:
                # That a value has a telling name is part of what is looked for.
                yield f"{name} = '{one}'"
            else:
                yield name
                yield from _strings(one)


def _masked(secret: str) -> str:
    return secret if secret.startswith("-----") else f"{secret[:4]}..."


def _drawn(text: str) -> bool:
    least = RANDOM_HEX_BITS if HEX.fullmatch(text) else RANDOM_BITS
    return _bits(text) >= least


def _bits(text: str) -> float:
    """Return the entropy of the characters of a text in bits a character."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)
