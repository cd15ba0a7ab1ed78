"""Configuration: TOML files and ``section.key=value`` overrides, read into frozen dataclasses.

Every key is checked against the dataclass of its section, so a misspelt key is refused with the
nearest known name and the file it stands in. A file may start with ``base = "other.toml"``, beside
it; its own keys win over the base's, and those of overlays over both.
"""

import dataclasses
import difflib
import hashlib
import json
import math
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from spadekit.errors import BadInput

T = TypeVar("T")

DEEPEST = 16
"""So many recipes may be each the base of the next."""


@dataclass(frozen=True)
class Entry:
    """A value as it was written, and where: a file, or a ``--set``."""

    value: Any
    source: str


Document = dict[str, dict[str, Entry]]
"""Sections by name, their keys, and the entry of each that won."""


@dataclass(frozen=True)
class Settings:
    """A checked configuration: one frozen dataclass per section, and a digest of all of them."""

    sections: Mapping[type, Any]
    digest: str

    def section(self, kind: type[T]) -> T:
        """Return the section whose dataclass is ``kind``."""
        return cast(T, self.sections[kind])

    def digest_of(self, *kinds: type) -> str:
        """Return a digest of some sections only: those that a piece of work depends on.

        Fields declared with ``compare=False`` are left out: they do not change what comes of it.
        """
        plain = {kind.__name__: _shaping(self.sections[kind]) for kind in kinds}
        return _digest(plain)

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Return plain data, for recording beside results."""
        return {kind.__name__: dataclasses.asdict(value) for kind, value in self.sections.items()}


def load(
    path: Path,
    overrides: Sequence[str],
    schema: Mapping[str, type],
    overlays: Sequence[Path] = (),
) -> Settings:
    """Read ``path``, lay overlays and overrides on it in order, build every section of ``schema``.

    Raises ``BadInput`` for a missing or malformed file, an unknown section or key, a value of the
    wrong type, and whatever a section's ``__post_init__`` refuses.
    """
    document: Document = {}
    for one in (path, *overlays):
        _read(one, document, schema)
    for text in overrides:
        _override(document, text, schema)
    sections: dict[type, Any] = {
        kind: _build(kind, document.get(name, {}), name) for name, kind in schema.items()
    }
    plain = {name: dataclasses.asdict(sections[kind]) for name, kind in schema.items()}
    return Settings(sections, _digest(plain))


def _shaping(section: Any) -> dict[str, Any]:
    compared = {field.name for field in dataclasses.fields(section) if field.compare}
    return {k: v for k, v in dataclasses.asdict(section).items() if k in compared}


def _digest(plain: Mapping[str, Any]) -> str:
    canonical = json.dumps(plain, sort_keys=True, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _read(
    path: Path, document: Document, schema: Mapping[str, type], seen: tuple[Path, ...] = ()
) -> None:
    """Lay the keys of a file, its base's first, on ``document``."""
    try:
        here = path.resolve()
        other = path.exists() and not path.is_file()
    except (OSError, RuntimeError) as error:  # the latter: symbolic links that go round in a circle
        raise BadInput(f"{path}: cannot be opened: {error}") from None
    if here in seen:
        raise BadInput(f"{path}: `base` leads back to this file; break the circle")
    if len(seen) == DEEPEST:
        raise BadInput(f"{path}: the base of {DEEPEST} files one above the other; use fewer")
    if other:
        raise BadInput(f"{path}: not a regular file; see configs/ for the recipes")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        asked = f" (the base of {seen[-1].name})" if seen else ""
        raise BadInput(
            f"{path}: no such configuration file{asked}; see configs/ for the recipes"
        ) from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read as TOML: {error}") from None
    except RecursionError:
        raise BadInput(f"{path}: nested too deep") from None
    base = data.pop("base", None)
    if base is not None:
        if not isinstance(base, str):
            raise BadInput(
                f'{path}: `base` must be the name of one file, as in base = "other.toml"'
            )
        _read(path.parent / base, document, schema, (*seen, here))
    for name, table in data.items():
        if not isinstance(table, dict):
            raise BadInput(f"{path}: `{name}` stands outside any [section]; move it into one")
        section = _section(document, name, schema, str(path))
        section.update((key, Entry(value, str(path))) for key, value in table.items())


def _section(
    document: Document, name: str, schema: Mapping[str, type], source: str
) -> dict[str, Entry]:
    if name not in schema:
        raise BadInput(f"{source}: unknown section [{name}]{_nearest(name, schema)}")
    return document.setdefault(name, {})


def _override(document: Document, text: str, schema: Mapping[str, type]) -> None:
    target, equals, value = text.partition("=")
    section, dot, key = target.strip().partition(".")
    if not (equals and dot and key) or "\n" in text:
        raise BadInput(f"--set {text}: write it as section.key=value")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except ValueError:
        parsed = value.strip()
    except RecursionError:
        raise BadInput(f"--set {target}: nested too deep") from None
    source = f"--set {target.strip()}"
    _section(document, section, schema, source)[key] = Entry(parsed, source)


def _build(kind: type[T], table: Mapping[str, Entry], name: str) -> T:
    fields = {field.name for field in dataclasses.fields(cast(Any, kind))}
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for key, entry in table.items():
        if key not in fields:
            raise BadInput(f"{entry.source}: [{name}] has no key `{key}`{_nearest(key, fields)}")
        # An override names the key already.
        where = (
            entry.source if entry.source.startswith("--set") else f"{entry.source}: {name}.{key}"
        )
        values[key] = _convert(entry.value, hints[key], where)
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise BadInput(f"[{name}] {error}") from None


def _convert(value: Any, hint: Any, where: str) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        # TOML has no null: an optional key is left out, so only the other member can be written.
        return _convert(value, next(arg for arg in args if arg is not type(None)), where)
    if origin is typing.Literal:
        if value not in args:
            choices = ", ".join(map(repr, args))
            raise BadInput(f"{where} = {value!r} is not one of {choices}")
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise BadInput(f"{where} must be a list")
        return tuple(_convert(item, args[0], where) for item in value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise BadInput(f"{where}: the number is too large") from None
    if hint is float and isinstance(value, float) and math.isnan(value):
        raise BadInput(f"{where} = {value!r} is not a number")
    if hint is Path and isinstance(value, str):
        return Path(value)
    if type(value) is not hint:
        raise BadInput(f"{where} = {value!r} must be of type {hint.__name__}")
    return value


def _nearest(name: str, known: typing.Iterable[str]) -> str:
    options = sorted(known)
    close = difflib.get_close_matches(name, options, n=1)
    return f"; did you mean `{close[0]}`?" if close else f"; known: {', '.join(options)}"
