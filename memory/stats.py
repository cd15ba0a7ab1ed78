"""The figures of a store: skills, regret, growth, variety, and where designs were lost."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory import monitors
from memory.config import MemoryConfig
from memory.embedding import vendi
from memory.schema import StandingRecord
from memory.search import status_of
from memory.shards import Manifest
from memory.tables import Tables
from memory.variety import alarm, is_collapsed

STAGES = (
    "read",
    "source",
    "loads",
    "contract",
    "deterministic",
    "seeded",
    "solvable",
    "nontrivial",
    "sealed",
    "hint",
    "bounded",
    "setting",
    "certificate",
    "diversity",
    "probe",
)
"""Where a design or candidate may fall, in order: reading, the certificate's checks, comparing, plays."""
Funnel = Mapping[tuple[str, str, str], int]
"""How many designs ended with an (outcome, stage, reason), the most first."""
BINS = tuple(round(-0.5 + 0.1 * index, 1) for index in range(16))  # edges -0.5 .. 1.0


@dataclass(frozen=True)
class ShardFigures:
    """One shard. ``vendi_share`` is Vendi score / n, None without environments."""

    shard: int
    policy_version: int
    environments: int
    designs: int
    plays: int
    admitted: int
    duplicates: int
    faulted: int
    mean_regret: float | None
    skills: Mapping[str, int]
    vendi_share: float | None
    collapsed: bool
    monitors: str
    """Shares of reward hacks that its round found; "" none."""
    alarms: tuple[str, ...]


@dataclass(frozen=True)
class Stats:
    """The whole store."""

    environments: int
    skills: Mapping[str, Mapping[str, int]]  # skill, "" without one -> status -> environments
    regret: tuple[int, ...]  # environments per bin of ``BINS``, out of range in the outer bins
    shards: tuple[ShardFigures, ...]
    funnel: Funnel

    @property
    def alarms(self) -> tuple[str, ...]:
        """What is alarming about shards: environments that are all alike, reward hacks."""
        lines: list[str] = []
        for one in self.shards:
            if one.collapsed:
                lines.append(alarm(one.shard, one.vendi_share, one.environments))
            lines += one.alarms
        return tuple(lines)


def funnel_of(designs: Iterable[Mapping[str, Any]]) -> Funnel:
    """Count rows of designs by where they ended."""
    counts = Counter((row["outcome"], row["stage"], row["reason"]) for row in designs)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def passed(funnel: Funnel) -> list[tuple[str, int, int]]:
    """Return (stage, how many fell there, how many were left) in the order of the stages.

    Designs of our own and candidates of imported pools alike; the last row's are those admitted.
    """
    fell: Counter[str] = Counter()
    for (_, stage, _), count in funnel.items():
        fell[stage] += count
    left = sum(fell.values())
    order = {stage: place for place, stage in enumerate(STAGES)}
    rows = []
    for stage in sorted(filter(None, fell), key=lambda name: (order.get(name, len(order)), name)):
        left -= fell[stage]
        rows.append((stage, fell[stage], left))
    return rows


def histogram(values: Sequence[float]) -> tuple[int, ...]:
    """Count values per bin of ``BINS``; nan is left out, outliers count in the outer bins."""
    counts = [0] * (len(BINS) - 1)
    for value in values:
        if not math.isnan(value):
            index = sum(1 for edge in BINS[1:-1] if value >= edge)
            counts[index] += 1
    return tuple(counts)


def collect(
    tables: Tables,
    manifests: Sequence[Manifest],
    latest: Mapping[str, StandingRecord],
    config: MemoryConfig,
) -> Stats:
    """Compute the figures from the tables."""
    environments = tables.scan("environments", columns=["id", "shard", "skills"]).to_pylist()
    columns = ["shard", "outcome", "stage", "reason"]
    designs = tables.scan("designs", columns=columns).to_pylist()
    skills: dict[str, Counter[str]] = {}
    for row in environments:
        for skill in row["skills"] or ("",):
            skills.setdefault(skill, Counter())[status_of(latest.get(row["id"]))] += 1
    return Stats(
        environments=len(environments),
        skills={name: dict(skills[name]) for name in sorted(skills)},
        regret=histogram([latest[row["id"]].regret for row in environments if row["id"] in latest]),
        shards=tuple(
            _shard(
                head,
                [row for row in environments if row["shard"] == head.shard],
                Counter(row["outcome"] for row in designs if row["shard"] == head.shard),
                latest,
                vendi_share(tables, head.shard),
                collapse_below=config.collapse_below,
            )
            for head in manifests
        ),
        funnel=funnel_of(designs),
    )


def vendi_share(tables: Tables, shard: int) -> float | None:
    """Return Vendi score / n of a shard's embeddings, None without any."""
    import numpy as np

    column = tables.scan("vectors", f"shard = {int(shard)}", ["embedding"]).column("embedding")
    if not len(column):
        return None
    vectors = np.stack([np.asarray(row, dtype=np.float32) for row in column.to_pylist()])
    return vendi(vectors) / len(vectors)


def _shard(
    head: Manifest,
    environments: Sequence[Mapping[str, Any]],
    outcomes: Counter[str],
    latest: Mapping[str, StandingRecord],
    share: float | None,
    *,
    collapse_below: float,
) -> ShardFigures:
    figures = [latest[row["id"]].regret for row in environments if row["id"] in latest]
    regrets = [value for value in figures if not math.isnan(value)]
    skills = Counter(skill for row in environments for skill in row["skills"])
    return ShardFigures(
        shard=head.shard,
        policy_version=head.policy_version,
        environments=len(environments),
        designs=head.rows("designs"),
        plays=head.rows("plays"),
        admitted=outcomes["admitted"],
        duplicates=outcomes["duplicate"],
        faulted=outcomes["faulted"],
        mean_regret=math.fsum(regrets) / len(regrets) if regrets else None,
        skills=dict(sorted(skills.items())),
        vendi_share=share,
        collapsed=is_collapsed(share, len(environments), collapse_below),
        monitors=monitors.line(head.meta),
        alarms=monitors.alarms(head.meta),
    )
