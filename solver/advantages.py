"""Group-relative advantages: rewards minus the mean of their group. Pure functions.

Groups are named, never recognised by their prompts. Here a group is what shares a baseline
(``Sample.baseline``): for the solver one instance, an (environment, seed) pair; for the designer one
skill and turn. A sample has a share of 1 in its group, or, as one of a play's n sequences, of 1/n: a
play weighs the same however it was cut up. Axis letter: S samples.
"""

import math
from collections.abc import Sequence


def centred(
    rewards_S: Sequence[float], groups_S: Sequence[str], shares_S: Sequence[float] = ()
) -> list[float]:
    """Return each reward minus the mean of its group, in the order given.

    A group of one, or of equal rewards, gets exact zeros. Not divided by the deviation: small
    groups would blow it up (SPADE, arXiv 2608.19197). No shares: 1 each. Raises ``ValueError`` for a
    reward that is not finite.
    """
    members: dict[str, list[tuple[float, float]]] = {}
    for reward, group, share in zip(
        rewards_S, groups_S, shares_S or [1.0] * len(rewards_S), strict=True
    ):
        if not math.isfinite(reward):
            raise ValueError(f"the reward {reward} of group {group} is not finite")
        members.setdefault(group, []).append((reward, share))
    means = {group: weighted_mean(values) for group, values in members.items()}
    return [reward - means[group] for reward, group in zip(rewards_S, groups_S, strict=True)]


def scaled(advantages_S: Sequence[float], shares_S: Sequence[float] = ()) -> list[float]:
    """Divide by the root mean square over all samples of the role; all zeros stay zeros."""
    shares_S = shares_S or [1.0] * len(advantages_S)
    square = math.fsum(
        share * value * value for value, share in zip(advantages_S, shares_S, strict=True)
    )
    if square == 0:
        return list(advantages_S)
    root = math.sqrt(square / math.fsum(shares_S))
    return [value / root for value in advantages_S]


def weighted_mean(values: Sequence[tuple[float, float]]) -> float:
    """The mean of (reward, share) pairs; exact where all rewards are equal."""
    rewards = [reward for reward, _ in values]
    if min(rewards) == max(rewards):
        return rewards[0]
    whole = math.fsum(share for _, share in values)
    return math.fsum(reward * share for reward, share in values) / whole
