"""Group-relative advantages: rewards minus the mean of their group. Pure functions.

Groups are named, never recognised by their prompts: a group of the solver is one instance, an
(environment, seed) pair; a group of the designer is one brief. Axis letter: S samples.
"""

import math
from collections.abc import Sequence


def centred(rewards_S: Sequence[float], groups_S: Sequence[str]) -> list[float]:
    """Return each reward minus the mean of its group, in the order given.

    A group of one, or of equal rewards, gets exact zeros. Not divided by the deviation: small
    groups would blow it up (SPADE, arXiv 2608.19197). Raises ``ValueError`` for a reward that is
    not finite.
    """
    members: dict[str, list[float]] = {}
    for reward, group in zip(rewards_S, groups_S, strict=True):
        if not math.isfinite(reward):
            raise ValueError(f"the reward {reward} of group {group} is not finite")
        members.setdefault(group, []).append(reward)
    means = {
        group: values[0] if min(values) == max(values) else math.fsum(values) / len(values)
        for group, values in members.items()
    }
    return [reward - means[group] for reward, group in zip(rewards_S, groups_S, strict=True)]


def scaled(advantages_S: Sequence[float]) -> list[float]:
    """Divide by the root mean square over all samples of the role; all zeros stay zeros."""
    square = math.fsum(value * value for value in advantages_S)
    if square == 0:
        return list(advantages_S)
    root = math.sqrt(square / len(advantages_S))
    return [value / root for value in advantages_S]
