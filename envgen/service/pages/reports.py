"""Figures of rounds and of the run, read from manifests, standings and policy versions."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any

from envgen.service.pages.catalogue import Entry, known
from envgen.service.pages.models import CurveModel, RoundModel, RunModel, VersionModel
from memory import Manifest
from solver import curriculum, curves
from solver.versions import CURRICULUM, INFO, Versions
from spadekit.errors import BadInput

_NAMES = ("learnable", "regret", "return_unhinted", "return_hinted")


def rounds(heads: Sequence[Manifest], entries: Sequence[Entry]) -> list[RoundModel]:
    """Return what came of each of some rounds, in their order."""
    regrets: dict[int, list[float]] = {}
    for one in entries:
        if one.regret is not None:
            regrets.setdefault(one.shard, []).append(round(one.regret, 4))
    return [_round(head, regrets.get(head.shard, [])) for head in heads]


def _round(head: Manifest, regrets: list[float]) -> RoundModel:
    meta = head.meta
    fell = {str(stage): _count(count) for stage, count in _map(meta.get("refused_at")).items()}
    seconds = _map(meta.get("seconds")).get("total")
    return RoundModel(
        shard=head.shard,
        policy_version=head.policy_version,
        created=head.created,
        designs=_count(meta.get("designs", head.rows("designs"))),
        admitted=_count(meta.get("admitted", head.rows("environments"))),
        duplicates=_count(meta.get("duplicates", 0)),
        faulted=_count(meta.get("faulted", 0)),
        fell=fell,
        vendi_share=_figure(_map(meta.get("variety")).get("vendi_share")),
        plays=_count(meta.get("plays", head.rows("plays"))),
        tokens=_count(meta["tokens"]) if "tokens" in meta else None,
        seconds=_figure(meta.get("round_seconds", seconds)),
        regrets=regrets,
        **{name: _figure(meta.get(name)) for name in _NAMES},
    )


def run(heads: Sequence[Manifest], versions: Versions) -> RunModel:
    """Return the curves of both roles and what each policy version came from."""
    infos = [versions.read(number) for number in versions.all()]
    at = {one.version: (versions.path(one.version) / INFO).stat().st_mtime for one in infos}
    trained = [curves.of_version(one, at[one.version]) for one in infos if one.version]
    return RunModel(
        rounds=_curves([curves.of_round(head) for head in heads]),
        versions=_curves(trained),
        policies=[
            VersionModel(
                version=one.version,
                parent=one.parent,
                shard=one.shard,
                created=_stamp(at[one.version]),
                played=_played(versions, one.version),
            )
            for one in infos
        ],
    )


def _curves(rows: Sequence[curves.Row]) -> list[CurveModel]:
    names = sorted({name for row in rows for name in row.values})
    return [
        CurveModel(
            name=name,
            steps=[row.step for row in rows if name in row.values],
            values=[row.values[name] for row in rows if name in row.values],
        )
        for name in names
    ]


def _played(versions: Versions, version: int) -> dict[str, list[str]]:
    """Return the environments that the step before a version played, by why; {} if it is not said."""
    path = versions.path(version) / CURRICULUM
    try:
        choice, _ = curriculum.from_json(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(f"{path} is damaged ({error})") from None
    found: dict[str, list[str]] = {}
    for one in choice.chosen:
        found.setdefault(one.why, []).append(one.environment)
    return found


def _stamp(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat(timespec="seconds")


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _figure(value: Any) -> float | None:
    return known(float(value)) if isinstance(value, int | float) else None
