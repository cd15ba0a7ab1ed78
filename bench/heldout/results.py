"""Results of held-out evaluations: one JSON file per policy version, and the figures they give."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from bench.playing import Playing
from bench.statistics import Estimate, clustered_mean, paired_difference
from solver.versions import Versions
from spadekit.errors import BadInput
from spadekit.files import write_json

Decoding = Literal["sampled", "greedy"]
DECODINGS: tuple[Decoding, ...] = ("sampled", "greedy")
FORMAT = 2


@dataclass(frozen=True)
class Returns:
    """One environment's returns, at the training temperature and greedy, without faulted plays."""

    id: str
    setting: str
    skill: str
    family: str
    level: int
    sampled: tuple[float, ...]
    greedy: tuple[float, ...]
    faulted: int


@dataclass(frozen=True)
class Protocol(Playing):
    """Everything but the weights that decides the figures. Only results of one protocol compare."""

    data: str
    data_digest: str
    plays: int
    greedy_plays: int
    seed: int


@dataclass(frozen=True)
class Result:
    """One policy version on the held-out set. ``weights`` is the digest of the version's files."""

    version: int
    weights: str
    protocol: Protocol
    environments: tuple[Returns, ...]
    seconds: float
    created: str
    machine: Mapping[str, Any]

    def returns(self, decoding: Decoding) -> dict[str, tuple[float, ...]]:
        """Return the returns of one decoding by environment."""
        return {one.id: getattr(one, decoding) for one in self.environments}

    def estimate(self, decoding: Decoding) -> Estimate:
        """Return the mean return of one decoding, clustered by environment."""
        return clustered_mean(self.returns(decoding))

    def by_family(self, decoding: Decoding) -> dict[str, Estimate]:
        """Return the mean return of one decoding for each family."""
        families = sorted({one.family for one in self.environments})
        return {
            family: clustered_mean(
                {
                    one.id: getattr(one, decoding)
                    for one in self.environments
                    if one.family == family
                }
            )
            for family in families
        }


def change(first: Result, last: Result, decoding: Decoding) -> Estimate:
    """Return the paired difference ``last - first``, clustered by environment."""
    return paired_difference(first.returns(decoding), last.returns(decoding))


def folder_of(run_dir: Path) -> Path:
    """Return where a run's held-out results lie."""
    return run_dir / "heldout"


def path_of(run_dir: Path, version: int) -> Path:
    """Return where the result of a version lies."""
    return folder_of(run_dir) / f"v{version:06d}.json"


def save(run_dir: Path, result: Result) -> Path:
    """Write a result atomically, its estimates beside the returns they come from."""
    path = path_of(run_dir, result.version)
    estimates = {decoding: asdict(result.estimate(decoding)) for decoding in DECODINGS}
    body = asdict(result)
    environments = body.pop("environments")
    write_json(
        path,
        {"format": FORMAT, **body, "estimates": estimates, "environments": environments},
    )
    return path


def read(path: Path) -> Result:
    """Read a result; ``BadInput`` when it is missing, damaged or of another format."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body["format"] != FORMAT:
            raise BadInput(
                f"{path}: written by another version of spadework; remove it to measure again"
            )
        return Result(
            version=int(body["version"]),
            weights=str(body["weights"]),
            protocol=Protocol(**body["protocol"]),
            environments=tuple(
                Returns(**{**one, "sampled": tuple(one["sampled"]), "greedy": tuple(one["greedy"])})
                for one in body["environments"]
            ),
            seconds=float(body["seconds"]),
            created=str(body["created"]),
            machine=body["machine"],
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path}: not a held-out result ({error!r}); remove it to measure again"
        ) from None


def stored(run_dir: Path) -> list[Result]:
    """Return every result of a run, by version."""
    folder = folder_of(run_dir)
    paths = sorted(folder.glob("v*.json")) if folder.is_dir() else []
    return sorted((read(path) for path in paths), key=lambda result: result.version)


def comparable(results: Sequence[Result], versions: Versions) -> tuple[list[Result], int]:
    """Return the results that can stand beside each other, and how many were left out.

    Those are measured the way the newest one was, on the weights that their version has now.
    """
    current = [one for one in results if _is_current(one, versions)]
    if not current:
        return [], len(results)
    newest = max(current, key=lambda result: result.created)
    kept = [result for result in current if result.protocol == newest.protocol]
    return kept, len(results) - len(kept)


def _is_current(result: Result, versions: Versions) -> bool:
    if not versions.has(result.version):
        return True
    return versions.read(result.version).weights == result.weights
