"""One arm, one recipe: an arm is gone on with only where it was begun with what it would be now."""

import dataclasses
import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.ablation.work import Work
from bench.config import AblationConfig
from envgen.producer import SHAPING
from solver.config import SyncConfig, TrainConfig
from solver.versions import Versions
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.files import write_json
from spadekit.settings import Settings

RECORD = "recipe.json"
"""In an arm's home, written before its first round: what its shards and versions come of."""
SHOWN = 3
"""So many of the settings that differ are told."""
OTHERWISE = "set it back, or name another --home"

Recipe = Mapping[str, Any]
"""Plain values by ``section.key``. How many rounds there are, and how they are judged, is no part of it."""


def recipe_of(session: Session, work: Work, config: AblationConfig) -> Recipe:
    """Return what the arm's shards and versions would come of now."""
    settings = _settings(session, work)
    found = {
        f"{name}.{field.name}": getattr(settings.section(kind), field.name)
        for name, kind in session.schema.items()
        if kind in (*SHAPING, SyncConfig, TrainConfig)
        for field in dataclasses.fields(kind)
        if field.compare
    }
    if work.arm.pool:
        found["ablation.pool"] = config.pool
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def check(session: Session, work: Work, config: AblationConfig) -> None:
    """Refuse an arm that was begun with another recipe, which would be two arms in one."""
    recorded = _recorded(work.home / RECORD)
    if recorded is None:
        _check_versions(work, _settings(session, work).digest)
        return
    differing = differences(recorded, recipe_of(session, work, config))
    if differing:
        more = f" and {len(differing) - SHOWN} more" if differing[SHOWN:] else ""
        told = ", ".join(differing[:SHOWN]) + more
        raise BadInput(f"{work.home} was begun with another recipe: {told}; {OTHERWISE}")


def begin(session: Session, work: Work, config: AblationConfig) -> None:
    """Write the arm's recipe down, where that was not done before."""
    path = work.home / RECORD
    if not path.exists():
        write_json(path, recipe_of(session, work, config))


def differences(recorded: Recipe, now: Recipe) -> list[str]:
    """Return what is not as it was, a few words for each setting."""
    return [
        f"{key} was {_short(recorded.get(key))} and is {_short(now.get(key))}"
        for key in dict.fromkeys((*now, *recorded))
        if recorded.get(key) != now.get(key)
    ]


def _settings(session: Session, work: Work) -> Settings:
    return session.varied([Path(path) for path in work.arm.paths], work.overrides)


def _recorded(path: Path) -> Recipe | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: not an arm's recipe ({error}); restore it") from None
    if not isinstance(found, dict):
        raise BadInput(f"{path}: not an arm's recipe; restore it")
    return found


def _check_versions(work: Work, digest: str) -> None:
    """Take versions that no record tells of for the arm's where all of their settings were today's."""
    versions = Versions(work.home / "policy")
    for number in versions.all():
        if number and versions.read(number).config != digest:
            raise BadInput(
                f"{work.home} has no {RECORD}, and its policy version {number} was trained with other "
                f"settings than today's (their digest in policy.json differs); {OTHERWISE}"
            )


def _short(value: Any) -> str:
    return textwrap.shorten(json.dumps(value), 40, placeholder=" ...")
