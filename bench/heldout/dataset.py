"""The fixed held-out set: one environment a line of JSON, checked before anything is played."""

import hashlib
import json
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from spadekit.errors import BadInput

EMBEDDED = "embedded"
SEEDS = "seed library"
"""The family of the seeds in the set that ships."""
QUESTIONS = "reasoning-gym"
"""The family of others' tasks there, and the package that they come from."""
SETTINGS = ("game", "tool_use")


@dataclass(frozen=True)
class HeldoutEnvironment:
    """One environment of the set. ``level`` is 1 to 5, 0 where nobody knows."""

    id: str
    setting: str
    skill: str
    family: str
    level: int
    title: str
    source: str
    hint: str


@dataclass(frozen=True)
class HeldoutSet:
    """The environments in the file's order, and the SHA-256 of the file's bytes."""

    name: str
    digest: str
    environments: tuple[HeldoutEnvironment, ...]


def read_set(path: str) -> HeldoutSet:
    """Read ``embedded`` or a JSONL file with the keys of ``HeldoutEnvironment``, one object a line.

    ``id``, ``setting`` and ``source`` are required; a missing ``level`` is 0, other missing keys
    are empty, further keys are ignored. Raises ``BadInput`` naming the line for anything malformed.
    """
    name = path
    try:
        if path == EMBEDDED:
            name = "the embedded held-out set"
            data = (files("bench") / "heldout" / "embedded.jsonl").read_bytes()
        elif Path(path).exists() and not Path(path).is_file():
            raise BadInput(f"{name}: not a regular file; set heldout.path to a JSONL file")
        else:
            data = Path(path).read_bytes()
    except OSError as error:
        raise BadInput(
            f"{name}: cannot be read ({error.strerror}); set heldout.path to a JSONL file"
        ) from None
    environments: list[HeldoutEnvironment] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        environment = _environment(line, where)
        if environment.id in seen:
            raise BadInput(
                f"{where}: id {environment.id!r} is already on line {seen[environment.id]}"
            )
        seen[environment.id] = number
        environments.append(environment)
    if not environments:
        raise BadInput(f"{name}: holds no environment; write one JSON object a line")
    return HeldoutSet(path, hashlib.sha256(data).hexdigest(), tuple(environments))


def _environment(line: bytes, where: str) -> HeldoutEnvironment:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where}: not JSON ({error}); mend or remove the line") from None
    if not isinstance(value, dict):
        raise BadInput(f"{where}: must be a JSON object, not {type(value).__name__}")
    values: dict[str, Any] = {}
    for field in fields(HeldoutEnvironment):
        kind = int if field.name == "level" else str
        found = value.get(field.name, kind())
        if type(found) is not kind:
            raise BadInput(f"{where}: `{field.name}` must be of type {kind.__name__}")
        values[field.name] = found
    for required in ("id", "source"):
        if not values[required]:
            raise BadInput(f"{where}: `{required}` is missing or empty")
    if values["setting"] not in SETTINGS:
        raise BadInput(f"{where}: `setting` must be one of {', '.join(SETTINGS)}")
    return HeldoutEnvironment(**values)
