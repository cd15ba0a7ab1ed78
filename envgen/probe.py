"""The plays that measure regret: both arms on the same seeds, in an order that tells nothing.

What the plays say (means, signed regret, interval, status) is ``memory.standing``.
"""

import random
from dataclasses import dataclass
from typing import Literal

from spadekit.seeds import derive

Arm = Literal["unhinted", "hinted"]
ARMS: tuple[Arm, Arm] = ("unhinted", "hinted")


@dataclass(frozen=True)
class Trial:
    """One play to make: an instance (``seed``) and whether the hint is shown."""

    seed: int
    arm: Arm


def schedule(plays: int, *, seed: int, environment: str) -> list[Trial]:
    """Return ``2 * plays`` trials: every seed once in each arm, all in random order.

    The order is drawn for each environment, so that a program which keeps count of its episodes
    cannot know which arm it is in; the shared seeds pair the arms, which cuts the variance of their
    difference when an instance's difficulty varies.
    """
    rng = random.Random(derive(seed, "probe", environment))
    seeds = [derive(seed, "instance", environment, index) % 2**31 for index in range(plays)]
    trials = [Trial(instance, arm) for instance in seeds for arm in ARMS]
    rng.shuffle(trials)
    return trials
