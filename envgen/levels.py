"""Which level of difficulty a brief asks for: evenly, or where designs have been paid lately.

A solver that gets better leaves the easy levels behind, and a designer that is only ever asked for
them is paid less and less. So the level follows the reward: the figure that says, after the fact,
whether a design lay at the solver's frontier.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from memory import Store

SHARDS = 6
"""Rounds that are looked at: what was at the frontier of an older solver says little."""
PRIOR = 4.0
"""A mean is drawn towards the one above it as if it had this many designs more."""
FLOOR = 0.15
"""Added to every level's mean reward, so that none is ever given up."""


@dataclass(frozen=True)
class Paid:
    """What a design was paid, and what it was asked to be."""

    skill: str
    level: int
    reward: float


def weights(paid: Sequence[Paid], skill: str, levels: Sequence[int]) -> list[float]:
    """Return how much each level of ``levels`` is wanted for a skill; all positive.

    The weight is the square of a level's mean reward: the mean of the skill at that level, drawn
    towards that of all skills at the level, which is drawn towards that of all designs. Without any
    design all levels weigh the same.
    """
    every = _drawn([one.reward for one in paid], 0.5)
    wanted = []
    for level in levels:
        here = [one for one in paid if one.level == level]
        of_level = _drawn([one.reward for one in here], every)
        of_skill = _drawn([one.reward for one in here if one.skill == skill], of_level)
        wanted.append((of_skill + FLOOR) ** 2)
    return wanted


def choose(rng: random.Random, levels: Sequence[int], wanted: Sequence[float]) -> int:
    """Draw one level by its weight."""
    return rng.choices(levels, wanted)[0]


def paid_lately(store: Store) -> list[Paid]:
    """Return the rewards of the designs of the newest shards; our own faults have none."""
    numbers = [manifest.shard for manifest in store.shards()]
    if not numbers:
        return []
    where = f"reward IS NOT NULL AND shard >= {numbers[-SHARDS:][0]}"
    rows = store.scan("designs", where, ["id", "brief", "reward"]).to_pylist()
    found = []
    for row in sorted(rows, key=lambda row: str(row["id"])):
        brief = json.loads(row["brief"] or "{}")
        if "skill" in brief and "level" in brief:
            found.append(Paid(str(brief["skill"]), int(brief["level"]), float(row["reward"])))
    return found


def _drawn(rewards: Sequence[float], towards: float) -> float:
    return (sum(rewards) + PRIOR * towards) / (len(rewards) + PRIOR)
