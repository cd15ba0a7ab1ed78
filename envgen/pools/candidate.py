"""A candidate for the memory, and how a row of somebody's table becomes one. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

from envgen.certificate import Certificate
from envgen.skills import SKILLS
from envgen.sourcefile import CONTROL, parse

SOURCE = (
    "source",
    "code",
    "source_code",
    "env_code",
    "environment_code",
    "environment",
    "program",
    "python",
    "completion",
    "text",
    "content",
)
HINT = ("hint", "privileged_hint", "hints", "hint_text")
SKILL = ("skills", "skill", "skill_tags", "tags", "category", "capability")
LEVEL = ("difficulty", "level", "difficulty_level")
NAME = ("id", "env_id", "name", "title", "class_name", "file", "filename", "path")
LONGEST_LEVEL = 30
KINDS: Mapping[type, str] = {
    NoneType: "nothing",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}
OTHER_NAMES = {
    "optimization": "optimisation",
    "math": "mathematical_reasoning",
    "mathematics": "mathematical_reasoning",
    "logic": "logical_deduction",
    "logical_reasoning": "logical_deduction",
    "spatial": "spatial_reasoning",
    "patterns": "pattern_recognition",
    "causal": "causal_inference",
    "causal_reasoning": "causal_inference",
    "planning": "strategic_planning",
    "memory": "memory_recall",
    "language": "language_understanding",
    "multi_step_workflow": "multi_step_workflows",
}


@dataclass(frozen=True)
class Claim:
    """What a release says of a program: its id, and its certificate, read and as it is written."""

    environment: str
    certificate: Certificate
    text: str


@dataclass(frozen=True)
class Origin:
    """Where whoever published a release says to have imported a program from."""

    address: str
    place: str


@dataclass(frozen=True)
class Candidate:
    """An environment that somebody offers.

    ``place`` says where it stood, ``claim`` what a release says, ``origin`` where the release has it from.
    """

    place: str
    source: str
    hint: str = ""
    skills: tuple[str, ...] = ()
    difficulty: int = 0
    parents: tuple[str, ...] = ()
    document: str = ""
    claim: Claim | None = None
    origin: Origin | None = None


@dataclass(frozen=True)
class Unusable:
    """A place of a pool that holds no candidate, and why. ``reason`` is one word."""

    place: str
    reason: str
    detail: str


Found = Candidate | Unusable


def from_row(place: str, row: Mapping[str, Any], largest: int) -> Found:
    """Return the candidate in a row; column names are taken as they come, whoever chose them.

    ``largest`` is the most bytes of a source.
    """
    columns = {key.strip().lower(): value for key, value in row.items() if isinstance(key, str)}
    name = next((str(columns[key]) for key in NAME if columns.get(key)), "")
    place = f"{place} ({name[:60]})" if name else place
    key = next((key for key in SOURCE if isinstance(columns.get(key), str)), "")
    if not key:
        return Unusable(place, "column", _no_source(columns))
    problem = unusable(place, columns[key], largest)
    if problem:
        return problem
    for name in HINT:
        if not isinstance(columns.get(name), str | list | tuple | NoneType):
            detail = f"column `{name}` holds {kind_of(columns[name])}, not text"
            return Unusable(place, "column", detail)
    file = parse(columns[key].removeprefix("\ufeff"))
    hint = next((text for text in map(_text, _values(columns, HINT)) if text), "")
    made = Candidate(
        place,
        columns[key].removeprefix("\ufeff") if hint else file.source,
        hint or file.hint,
        skills_of([name for value in _values(columns, SKILL) for name in _names(value)])
        or skills_of(file.skills),
        next(filter(None, map(_level, _values(columns, LEVEL))), file.difficulty),
    )
    return checked(made, largest)


def checked(made: Candidate, largest: int) -> Found:
    """Return the candidate, unless its hint is no plain text or larger than a source may be."""
    if len(made.hint) > largest:
        detail = f"the hint has {len(made.hint)} characters; at most {largest} are taken"
        return Unusable(made.place, "hint", detail)
    if CONTROL.search(made.hint):
        detail = "the hint holds control characters or lone surrogates"
        return Unusable(made.place, "hint", detail)
    return made


def unusable(place: str, source: str, largest: int) -> Unusable | None:
    """Say why a text cannot be a source at all, if it cannot."""
    if not source.strip():
        return Unusable(place, "empty", "the source is empty")
    if "\0" in source:
        return Unusable(place, "binary", "the source holds NUL characters")
    size = len(source.encode("utf-8", "replace"))
    if size > largest:
        return Unusable(place, "size", f"{size} bytes; a source has at most {largest}")
    if source.encode("utf-8", "replace").decode() != source:
        return Unusable(place, "encoding", "the source is not UTF-8 text")
    return None


def skills_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the skill tags among names, spelt our way, each once; other names are dropped."""
    spelt = ["_".join(name.lower().replace("-", " ").replace("_", " ").split()) for name in names]
    known = (OTHER_NAMES.get(name, name) for name in spelt)
    return tuple(dict.fromkeys(name for name in known if name in SKILLS))


def kind_of(value: object) -> str:
    """Return what a value is, in words for whoever wrote the table."""
    return KINDS.get(type(value), "something else")


def _no_source(columns: Mapping[str, Any]) -> str:
    if wrong := next((key for key in SOURCE if columns.get(key) is not None), ""):
        return f"column `{wrong}` holds {kind_of(columns[wrong])}, not text"
    if null := next((key for key in SOURCE if key in columns), ""):
        return f"column `{null}` is null"
    known = ", ".join(sorted(columns)[:12]) or "none"
    return f"no column holds the source (`source` or `code`); its columns: {known}"


def _values(columns: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    return [columns[name] for name in names if columns.get(name) is not None]


def _text(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = next((item for item in value if isinstance(item, str) and item.strip()), "")
    return value.replace("\r\n", "\n") if isinstance(value, str) and value.strip() else ""


def _names(value: Any) -> list[str]:
    """Return the names in a cell: a list, a JSON list, or words with commas between them."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    if isinstance(value, str):
        return value.split(",")
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _level(value: Any) -> int:
    if isinstance(value, str) and len(value) < LONGEST_LEVEL and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return (
        value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 5 else 0
    )
