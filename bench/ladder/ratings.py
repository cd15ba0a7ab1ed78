"""Ratings of policy versions and difficulties of shards on one scale, with intervals. Pure functions.

A play of version v on environment e of shard s is won with probability

    1 / (1 + exp(-(rating_v - place_e))),    place_e ~ Normal(difficulty_s, spread^2):

the Rasch model (Rasch 1960; Bradley and Terry's between players and puzzles) with random environments
within shards (De Boeck, "Random item IRT models", Psychometrika 73, 2008). A shard's difficulty is that
of the environments that its designer would write, of which the sampled ones are a few; so its interval
does not shrink below what they leave open, however often they are played.

What is fixed: the first version's rating is 0, and the unit is the logit (equal slopes). A version
with a rating of 1 has e times the odds of version 0 on every environment.

Returns between 0 and 1 count as that much of a win (fractional response, Papke and Wooldridge 1996):
their mean is what is modelled, and since they vary less than wins and losses of that mean do, intervals
are then too wide rather than too narrow.

Fitted by the highest posterior of the marginal likelihood (Bock and Aitkin 1981), the integral over
environments as a sum over a fixed grid, the spread with the ratings summed out. An interval is the wider
of two: from the observed information, and from the sandwich over environments, which also holds where
some versions are good at some environments (Huber 1967; White 1982). Weak priors keep a
version that never wins finite, `PRIOR` logits around version 0 for ratings and difficulties, and a spread
that few plays say little of between 0.5 and 4 (`SPREAD`).

V  versions    S  shards    E  environments of one shard    N  nodes of the grid
P  parameters: ratings of all versions, difficulties of all shards, logarithm of the spread
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

PRIOR = 5.0
"""Standard deviation, in logits, of ratings and difficulties before anything was played."""
SPREAD = (0.4, 0.5)
"""Mean and standard deviation of the logarithm of the spread before anything was played."""
NODES_N = np.linspace(-5.0, 5.0, 81)
"""Places of environments in spreads. An even grid: its error falls exponentially with its step."""
WEIGHTS_N = -0.5 * NODES_N**2 - np.log(np.exp(-0.5 * NODES_N**2).sum())
LOG_SPREADS = (-3.0, 2.5)
"""The spreads that are looked at, 0.05 to 12 logits."""
STEPS, ENOUGH = 50, 1e-7
"""Most steps of Newton's method; what is left to gain, in log-likelihood, when it stops."""
Z95 = 1.959964


@dataclass(frozen=True)
class Tally:
    """One shard's plays: sums of returns and counts, each of shape (E, V)."""

    total_EV: Array
    plays_EV: Array


@dataclass(frozen=True)
class Span:
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratings:
    """The fit, and two covariances of it, zero where nothing is estimated (version 0).

    ``model_PP`` is right if the model is; ``robust_PP``, the sandwich over environments, holds whatever
    the plays of one environment have in common, but needs many of them.
    """

    rating_V: Array
    difficulty_S: Array
    spread: float
    model_PP: Array
    robust_PP: Array

    def rating(self, version: int) -> Span:
        """Return a version's rating, by its place among the versions."""
        return self.span(self._unit(version))

    def difficulty(self, shard: int) -> Span:
        """Return a shard's difficulty, by its place among the shards."""
        return self.span(self._unit(len(self.rating_V) + shard))

    def ahead(self, shard: int, version: int) -> Span:
        """Return how far a shard lies above a version: its difficulty less the version's rating."""
        return self.span(self._unit(len(self.rating_V) + shard) - self._unit(version))

    def slope(self, *, shards: bool) -> Span | None:
        """Return the least-squares slope, in logits a step, over the versions or over the shards.

        The interval says how well these ratings are known, not how another run would go. None for
        fewer than two.
        """
        first, count = (
            (len(self.rating_V), len(self.difficulty_S)) if shards else (0, len(self.rating_V))
        )
        if count < 2:
            return None
        away = np.arange(count) - (count - 1) / 2
        weights_P = np.zeros(len(self.model_PP))
        weights_P[first : first + count] = away / (away @ away)
        return self.span(weights_P)

    def span(self, weights_P: Array) -> Span:
        """Return a weighted sum of the parameters."""
        value = float(weights_P[:-1] @ np.concatenate([self.rating_V, self.difficulty_S]))
        variance = max(
            float(weights_P @ one_PP @ weights_P) for one_PP in (self.model_PP, self.robust_PP)
        )
        half = Z95 * float(np.sqrt(max(0.0, variance)))
        return Span(value, value - half, value + half)

    def _unit(self, place: int) -> Array:
        unit_P = np.zeros(len(self.model_PP))
        unit_P[place] = 1.0
        return unit_P


def fit(shards: Sequence[Tally]) -> Ratings:
    """Return the ratings that fit the plays; every shard has the same versions, the first is rated 0.

    Raises ``ValueError`` where there is nothing to fit: no shard, no version, or a return beyond [0, 1].
    """
    from scipy.optimize import minimize_scalar

    if not shards or not shards[0].plays_EV.shape[1]:
        raise ValueError("ratings need a version and a shard")
    for one in shards:
        if not ((one.total_EV >= 0) & (one.total_EV <= one.plays_EV)).all():
            raise ValueError("returns must lie in [0, 1]")
    versions = shards[0].plays_EV.shape[1]
    start_P = np.zeros(versions + len(shards) + 1)

    def restricted(log_spread: float) -> float:
        """The loss with the ratings summed out (Laplace): as REML does, lest the spread come out small."""
        nonlocal start_P
        start_P, loss = _best(start_P, log_spread, shards)
        return loss.value + 0.5 * float(np.linalg.slogdet(loss.bend_PP[1:-1, 1:-1])[1])

    found: Any = minimize_scalar(
        restricted, bounds=LOG_SPREADS, method="bounded", options={"xatol": 0.01}
    )
    at_P, loss = _best(start_P, float(found.x), shards)
    model_PP = np.zeros_like(loss.bend_PP)
    model_PP[1:, 1:] = np.linalg.inv(loss.bend_PP[1:, 1:])
    clusters = sum(len(one.plays_EV) for one in shards)
    # what is fitted takes its share of the scores' variance (MacKinnon and White's HC1, 1985)
    left = max(clusters - (versions - 1 + len(shards)), clusters / 2)
    return Ratings(
        rating_V=at_P[:versions],
        difficulty_S=at_P[versions:-1],
        spread=float(np.exp(at_P[-1])),
        model_PP=model_PP,
        robust_PP=model_PP @ loss.outer_PP @ model_PP * clusters / left,
    )


@dataclass(frozen=True)
class _Loss:
    """The negative log posterior, its slope and bend, and the environments' scores' outer products."""

    value: float
    slope_P: Array
    bend_PP: Array
    outer_PP: Array


def _best(start_P: Array, log_spread: float, shards: Sequence[Tally]) -> tuple[Array, _Loss]:
    """Return the best ratings for a spread, by Newton's method: the loss is convex in them."""
    at_P = start_P.copy()
    at_P[-1] = log_spread
    loss = _loss(at_P, shards)
    for _ in range(STEPS):
        step = np.linalg.solve(loss.bend_PP[1:-1, 1:-1], loss.slope_P[1:-1])
        if float(step @ loss.slope_P[1:-1]) < ENOUGH:
            break
        share = 1.0
        while True:  # a step that is small enough goes down
            tried_P = at_P.copy()
            tried_P[1:-1] -= share * step
            tried = _loss(tried_P, shards)
            if tried.value < loss.value or share < ENOUGH:
                break
            share /= 2
        at_P, loss = tried_P, tried
    return at_P, loss


def _loss(at_P: Array, shards: Sequence[Tally]) -> _Loss:
    size, versions = len(at_P), len(at_P) - len(shards) - 1
    prior_P, centre_P = np.full(size, PRIOR**-2), np.zeros(size)
    centre_P[-1], prior_P[-1] = SPREAD[0], SPREAD[1] ** -2
    away_P = at_P - centre_P
    value = 0.5 * float(prior_P @ away_P**2)
    slope_P, bend_PP, outer_PP = prior_P * away_P, np.diag(prior_P), np.zeros((size, size))
    for place, one in enumerate(shards):
        mine = np.array([*range(versions), versions + place, size - 1])
        likelihood, score_EQ, information = _shard(at_P[mine], one)
        value -= likelihood
        slope_P[mine] -= score_EQ.sum(axis=0)
        bend_PP[np.ix_(mine, mine)] += information
        outer_PP[np.ix_(mine, mine)] += score_EQ.T @ score_EQ
    return _Loss(value, slope_P, bend_PP, outer_PP)


def places(ratings: Ratings, shard: int, tally: Tally) -> Array:
    """Return the expected place of each environment of a shard on the scale, shape (E,)."""
    spread = ratings.spread * NODES_N
    at_N = ratings.difficulty_S[shard] + spread
    posterior_EN = _posterior(_likelihood(ratings.rating_V, at_N, tally))[1]
    place_E: Array = posterior_EN @ at_N
    return place_E


def chance(logit: Array) -> Array:
    """Return the probability of a win."""
    return 0.5 * (1.0 + np.tanh(0.5 * logit))


def _likelihood(rating_V: Array, at_N: Array, tally: Tally) -> Array:
    """The log-likelihood of each environment's plays if it lay at each node, shape (E, N)."""
    logit_NV = rating_V - at_N[:, None]
    return tally.total_EV @ logit_NV.T - tally.plays_EV @ np.logaddexp(0.0, logit_NV).T


def _posterior(likelihood_EN: Array) -> tuple[Array, Array]:
    """The log-likelihood of each environment with its place summed out, and the nodes' probabilities."""
    joint_EN = likelihood_EN + WEIGHTS_N
    most_E1 = joint_EN.max(axis=1, keepdims=True)
    shares_EN = np.exp(joint_EN - most_E1)
    whole_E1 = shares_EN.sum(axis=1, keepdims=True)
    return (most_E1 + np.log(whole_E1))[:, 0], shares_EN / whole_E1


def _shard(at: Array, tally: Tally) -> tuple[float, Array, Array]:
    """Return log-likelihood, score and observed information of one shard's plays.

    ``at``: ratings, the shard's difficulty, log spread. The information is Louis's (1982): the mean
    curvature over the places less the variance of the score over them.
    """
    rating_V, spread = at[:-2], np.exp(at[-1])
    logit_NV = rating_V - at[-2] - spread * NODES_N[:, None]
    chance_NV = chance(logit_NV)
    likelihood_EN = _likelihood(rating_V, at[-2] + spread * NODES_N, tally)
    value_E, posterior_EN = _posterior(likelihood_EN)

    left_ENV = tally.total_EV[:, None, :] - tally.plays_EV[:, None, :] * chance_NV
    sum_EN = left_ENV.sum(axis=2)
    away_N = -spread * NODES_N  # the logit's slope in log spread, and its curvature
    score_ENQ = np.concatenate(
        [left_ENV, -sum_EN[:, :, None], (away_N * sum_EN)[:, :, None]], axis=2
    )
    mean_EQ = np.einsum("en,enq->eq", posterior_EN, score_ENQ)

    # sum over environments of posterior x plays, per node and version
    weight_NV = (posterior_EN.T @ tally.plays_EV) * chance_NV * (1.0 - chance_NV)
    slopes_NR = np.stack([-np.ones_like(away_N), away_N], axis=1)
    information = np.zeros((len(at), len(at)))
    information[:-2, :-2] = np.diag(weight_NV.sum(axis=0))
    information[:-2, -2:] = weight_NV.T @ slopes_NR
    information[-2:, :-2] = information[:-2, -2:].T
    information[-2:, -2:] = slopes_NR.T @ (weight_NV.sum(axis=1)[:, None] * slopes_NR)
    information[-1, -1] -= float((posterior_EN * sum_EN * away_N).sum())
    flat = (np.sqrt(posterior_EN)[:, :, None] * score_ENQ).reshape(-1, len(at))
    information -= flat.T @ flat - mean_EQ.T @ mean_EQ
    return float(value_E.sum()), mean_EQ, information
