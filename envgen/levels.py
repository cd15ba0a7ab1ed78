"""Which skill and which level of difficulty a brief asks for: evenly, or at the solver's frontier.

A solver that gets better leaves the easy levels behind, and a designer that is only ever asked for
them is paid less and less. So the level follows the solver's unhinted return, through the simplest item
response model (Rasch, 1960): an ability per skill, and a difficulty that grows evenly with the level.
With it what was seen at one level says something of all: a skill that is won at level 2 is asked for at
level 4 next, one that is always lost at level 5 at level 2.
"""

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory import Store
from memory.tables import any_of

SHARDS = 6
"""Rounds that are looked at: what was at the frontier of an older solver says little."""
KEPT = 0.8
"""How much a round counts of the one after it."""
STEP = 0.6
"""Log-odds of winning that a level costs, on designs of the embedded policy."""
MIDDLE = 3
"""The level at which the odds are those of the ability alone."""
WIDTH = 0.2
"""How far from one half an expected return lies when it is wanted 0.6 times as much."""
FLOOR = 0.1
"""Added to every weight, so that no level and no skill is ever given up."""
NEWTON_STEPS = 20


@dataclass(frozen=True)
class Seen:
    """A design's mean unhinted return, what it was asked to be, and how many rounds ago."""

    skill: str
    level: int
    unhinted: float
    ago: int = 0


def wanted(seen: Sequence[Seen], skill: str, levels: Sequence[int]) -> list[float]:
    """Return how much each level of ``levels`` is wanted for a skill; all positive, at most 1 + FLOOR.

    A bell over the expected return, highest at one half. Abilities are the likeliest ones, a skill's
    drawn towards that of all skills together, and that towards even odds at the middle level.
    """
    every = _ability(seen, 0.0)
    own = _ability([one for one in seen if one.skill == skill], every)
    return [math.exp(-0.5 * ((_chance(own, level) - 0.5) / WIDTH) ** 2) + FLOOR for level in levels]


def draw_skills(rng: random.Random, wants: Mapping[str, Sequence[float]], n: int) -> list[str]:
    """Return ``n`` skills of ``wants`` (``wanted`` of each), each by how much its best level is wanted.

    None comes again before all have come: so a round of few briefs has as many skills, and a skill that
    is won at every level, or at none, comes in few rounds.
    """
    even, rest = divmod(n, len(wants))
    # Weighted draws without replacement by one key each (Efraimidis and Spirakis, 2006).
    keys = {skill: rng.random() ** (1 / max(weights)) for skill, weights in wants.items()}
    return [*wants] * even + sorted(wants, key=lambda skill: -keys[skill])[:rest]


def seen_lately(store: Store) -> list[Seen]:
    """Return the first measurements of the designs of the newest shards, in the order of their ids."""
    numbers = [manifest.shard for manifest in store.shards()]
    if not numbers:
        return []
    where = f"environment != '' AND shard >= {numbers[-SHARDS:][0]}"
    designs = store.scan("designs", where, ["id", "brief", "environment", "shard"]).to_pylist()
    columns = ["environment", "policy_version", "return_unhinted"]
    measured: dict[str, tuple[int, float]] = {}
    of_these = any_of("environment", [row["environment"] for row in designs])
    for row in store.scan("standings", of_these, columns).to_pylist():
        first = (int(row["policy_version"]), float(row["return_unhinted"]))
        measured[row["environment"]] = min(first, measured.get(row["environment"], first))
    found = []
    for row in sorted(designs, key=lambda row: str(row["id"])):
        brief = json.loads(row["brief"] or "{}")
        if row["environment"] in measured and brief.get("level"):
            unhinted = measured[row["environment"]][1]
            ago = numbers[-1] - int(row["shard"])
            found.append(Seen(str(brief["skill"]), int(brief["level"]), unhinted, ago))
    return found


def _chance(ability: float, level: int) -> float:
    return 1 / (1 + math.exp(STEP * (level - MIDDLE) - ability))


def _ability(seen: Sequence[Seen], prior: float) -> float:
    """The likeliest ability under a normal prior of deviation 1, by Newton's method.

    A mean return counts as one trial that was won in part: designs of one skill differ more than
    plays of one design do.
    """
    ability = prior
    for _ in range(NEWTON_STEPS):
        slope, curve = prior - ability, 1.0
        for one in seen:
            chance, weight = _chance(ability, one.level), KEPT**one.ago
            slope += weight * (one.unhinted - chance)
            curve += weight * chance * (1 - chance)
        ability += max(-1.0, min(1.0, slope / curve))
    return ability
