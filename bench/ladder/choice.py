"""Which plays to make: the floor that every version and shard gets, then those that tell most. Pure.

A play of version v on environment e tells of ``rating_v - place_e`` with the weight p (1 - p) of its
chance p. Its worth is how much the variances of the expected returns of all versions on all shards together
fall by it: Bayesian design for prediction (Chaloner and Verdinelli, Statistical Science 10, 1995), chosen
greedily, one play after another, on the normal approximation of the joint posterior of ratings,
difficulties and places. So a version meets the environments that it wins about half the time, the least
known ones first. In logits alone the most unsure figure would be the difficulty of a shard that
everybody loses, and all plays would go there.

V  versions    S  shards    E  environments of all shards, shard by shard    T  V + S    J  V + S + E
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bench.ladder.ratings import PRIOR, Array, Ratings, Tally, chance, places

Pick = tuple[int, int]
"""A version's place among the versions, an environment's among those of all shards."""


def floor_of(versions: int, environments: Sequence[int], floor: int) -> Iterator[tuple[Pick, int]]:
    """Yield every version's floor on every shard, and which play of the pair each is.

    ``environments``: how many each shard has. The first ``floor`` of a shard, once each; where there
    are fewer, they are played again.
    """
    for version in range(versions):
        first = 0
        for count in environments:
            for number in range(floor):
                yield (version, first + number % count), number // count
            first += count


def choose(
    ratings: Ratings, shards: Sequence[Tally], sound_E: npt.NDArray[np.bool_], plays: int
) -> list[Pick]:
    """Return the next ``plays`` plays, the most telling first; none of environments that are not sound."""
    if not sound_E.any():
        return []
    versions = len(ratings.rating_V)
    place_E = np.concatenate([places(ratings, *pair) for pair in enumerate(shards)])
    chance_VE = chance(ratings.rating_V[:, None] - place_E)
    weight_VE = np.where(sound_E, chance_VE * (1.0 - chance_VE), 0.0)
    played_VE = np.concatenate([one.plays_EV.T for one in shards], axis=1)
    covariance_JJ = _covariance(ratings, shards, played_VE * chance_VE * (1.0 - chance_VE))
    known = versions + len(shards)
    value_TT = _value(ratings)
    told_JJ = covariance_JJ[:known].T @ value_TT @ covariance_JJ[:known]
    picks = []
    for _ in range(plays):
        apart_VE = _between(covariance_JJ, versions, known)
        worth_VE = weight_VE * _between(told_JJ, versions, known) / (1.0 + weight_VE * apart_VE)
        version, environment = divmod(int(worth_VE.argmax()), len(place_E))
        picks.append((version, environment))
        # the covariance after that play (Sherman and Morrison), and what it says of the returns
        way_J = covariance_JJ[:, version] - covariance_JJ[:, known + environment]
        share = weight_VE[version, environment] / (
            1.0 + weight_VE[version, environment] * apart_VE[version, environment]
        )
        valued_T = value_TT @ way_J[:known]
        mixed_J = covariance_JJ[:known].T @ valued_T
        covariance_JJ -= share * np.outer(way_J, way_J)
        told_JJ -= share * (np.outer(mixed_J, way_J) + np.outer(way_J, mixed_J))
        told_JJ += share**2 * float(way_J[:known] @ valued_T) * np.outer(way_J, way_J)
    return picks


def _value(ratings: Ratings) -> Array:
    """Return the form that makes a covariance of ratings and difficulties one of expected returns, summed.

    The slope of a return averaged over a shard's environments: that of a logistic curve stretched by the
    spread (Zeger, Liang and Albert 1988).
    """
    stretch = np.sqrt(1.0 + 0.346 * ratings.spread**2)
    mean_VS = chance((ratings.rating_V[:, None] - ratings.difficulty_S) / stretch)
    slope_VS = (mean_VS * (1.0 - mean_VS) / stretch) ** 2
    return np.block(
        [[np.diag(slope_VS.sum(axis=1)), -slope_VS], [-slope_VS.T, np.diag(slope_VS.sum(axis=0))]]
    )


def _covariance(ratings: Ratings, shards: Sequence[Tally], weight_VE: Array) -> Array:
    """Return the joint covariance of ratings, difficulties and places; version 0 is known: zeros."""
    versions, known = len(ratings.rating_V), len(ratings.rating_V) + len(shards)
    shard_E = np.repeat(np.arange(len(shards)), [len(one.plays_EV) for one in shards])
    precision_JJ = np.diag(np.r_[np.full(known, PRIOR**-2), np.zeros(len(shard_E))])
    own = known + np.arange(len(shard_E))
    diagonal = np.arange(len(precision_JJ))
    tie = ratings.spread**-2
    precision_JJ[own, versions + shard_E] = precision_JJ[versions + shard_E, own] = -tie
    precision_JJ[diagonal, diagonal] += np.r_[
        weight_VE.sum(axis=1), tie * np.bincount(shard_E), weight_VE.sum(axis=0) + tie
    ]
    precision_JJ[:versions, known:] = -weight_VE
    precision_JJ[known:, :versions] = -weight_VE.T
    covariance_JJ = np.zeros_like(precision_JJ)
    covariance_JJ[1:, 1:] = np.linalg.inv(precision_JJ[1:, 1:])
    return covariance_JJ


def _between(form_JJ: Array, versions: int, known: int) -> Array:
    """Return the form's value for the difference of each version and each environment, shape (V, E)."""
    diagonal = np.diagonal(form_JJ)
    across_VE = form_JJ[:versions, known:]
    return np.maximum(diagonal[:versions, None] - 2 * across_VE + diagonal[known:], 0.0)


def budget(versions: int, shards: int, floor: int, plays: int, every: int) -> int:
    """Return how many plays there are in all.

    Raises ``ValueError`` where the floor alone takes more; it names the settings that make it fit.
    """
    least = versions * shards * floor
    if plays and plays < least:
        ways = [f"ladder.plays = {least}"]
        if plays >= versions * shards:
            ways.append(f"ladder.floor = {plays // (versions * shards)}")
        thinner = [
            apart
            for apart in range(2, versions)
            if (math.ceil((versions - 1) / apart) + 1) * shards * floor <= plays
        ]
        if thinner:
            ways.append(f"ladder.every = {every * thinner[0]}")
        raise ValueError(
            f"ladder.plays = {plays}, but {versions} versions on {shards} shards, {floor} plays each, "
            f"are {least}; what fits: {', or '.join(ways)}"
        )
    return plays or 2 * least
