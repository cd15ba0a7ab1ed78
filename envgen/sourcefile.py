"""An environment as one text file: its source and, in trailing comment lines, what goes with it.

    class CanalEnv:
        ...
    # hint: Draw the map as you go.
    # skills: spatial_reasoning
    # difficulty: 3

``write`` puts those lines there and ``parse`` takes them off again, to the byte: an environment's
id depends on its source and hint. The last two are for the memory and may be missing. A hint that
one line of printable characters cannot carry is written as a JSON string: Python ends a comment at a
carriage return as well, and what followed it would be code.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spadekit.errors import BadInput

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What no hint and no last line may hold: controls (but tab and newline), other line ends, surrogates."""
LINE = re.compile(r"#[ \t]*(hint|skills|difficulty):[ \t]*(.*)", re.IGNORECASE)
WORDS = re.compile(r"\w[\w -]{0,59}")
"""How a skill may be named in a file."""
LINE_END = re.compile(r"\r\n?|\n")
HINT_TAIL = 5
"""A hint that stands alone counts in so many last lines."""


@dataclass(frozen=True)
class SourceFile:
    """What a file holds. ``skills`` are the names there that are words; ``difficulty`` 0 is unknown."""

    source: str
    hint: str = ""
    skills: tuple[str, ...] = ()
    difficulty: int = 0


def parse(text: str) -> SourceFile:
    """Split a file's text into the source and what its last lines say about it."""
    body = text.rstrip()
    found: dict[str, str] = {}
    while "hint" not in found:  # the topmost of them: what stands above is the source's own
        rest, newline, last = body.rpartition("\n")
        match = _said(last)
        if not newline or match is None or match[1].lower() in found:
            break
        found[match[1].lower()] = match[2].strip()
        body = rest
    if not found:
        return SourceFile(text, hint_of(text) or "")
    # `write` adds a last newline only where the source had one.
    source = body + "\n" if text.endswith("\n") else body
    level = found.get("difficulty", "")
    return SourceFile(
        source,
        _plain(found["hint"]) if "hint" in found else hint_of(source) or "",
        _words(found.get("skills", "").split(",")),
        int(level) if level in ("1", "2", "3", "4", "5") else 0,
    )


def write(source: str, hint: str, skills: Sequence[str] = (), difficulty: int = 0) -> str:
    """Return the text that ``parse`` reads back to the same source and hint.

    Names of skills that are no words are left out. Raises ``BadInput`` for a source that no text file
    can hold.
    """
    named = _words(skills)
    rest = [f"# skills: {', '.join(named)}"] if named else []
    rest += [f"# difficulty: {difficulty}"] if difficulty else []
    for value in (hint, json.dumps(hint)) if hint.isprintable() else (json.dumps(hint),):
        tail = "\n".join([f"# hint: {value}", *rest])
        text = f"{source}{tail}\n" if source.endswith("\n") else f"{source}\n{tail}"
        read = parse(text)
        if (read.source, read.hint) == (source, hint):
            return text
    raise BadInput("this source cannot be written as one text file that reads back the same")


def hint_of(source: str) -> str | None:
    """Return the hint of a source's last lines (``# hint: ...``), if there is one."""
    for line in reversed(LINE_END.split(source.strip())[-HINT_TAIL:]):
        match = _said(line)
        if match and match[1].lower() == "hint" and match[2].strip():
            return _plain(match[2].strip())
    return None


def read_source(path: Path, largest: int) -> str:
    """Read a source file. Raises ``BadInput`` when it is missing, empty, binary or too large."""
    text = read_text(path, largest)
    if not text.strip():
        raise BadInput(f"{path}: the file is empty; write one Python class whose name ends in Env")
    return text


def read_text(path: Path, largest: int) -> str:
    """Read a text file of at most ``largest`` bytes. Raises ``BadInput``."""
    try:
        if path.is_dir():
            raise BadInput(f"{path}: this is a folder; name one Python file")
        if path.exists() and not path.is_file():
            raise BadInput(f"{path}: not a regular file; name one Python file")
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > largest:
        raise BadInput(f"{path}: larger than {largest} bytes; an environment is one short file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not UTF-8 text; an environment is a Python source file") from None
    if "\0" in text:
        raise BadInput(f"{path}: holds NUL characters, so it is not a text file")
    return text


def _said(line: str) -> re.Match[str] | None:
    """Match a line that is wholly a comment to Python as well."""
    line = line.strip()
    return None if CONTROL.search(line) else LINE.fullmatch(line)


def _words(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for name in names if WORDS.fullmatch(name.strip()))


def _plain(value: str) -> str:
    """Return a value as it was meant: a JSON string's content, else the text itself."""
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return str(json.loads(value))
        except ValueError:
            return value
    return value
