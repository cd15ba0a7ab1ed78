"""Measuring regret with few plays: both arms on the same seeds, each until a rule says that it is enough.

What the plays say (means, signed regret, interval, status) is ``memory.standing``.
"""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from memory import PlayRecord, status
from memory.standing import is_hint_only
from spadekit.seeds import derive

Arm = Literal["unhinted", "hinted"]
ARMS: tuple[Arm, Arm] = ("unhinted", "hinted")
FIRST_LOOK, LOOK_EVERY = 4, 2
"""An arm is looked at after this many plays, and then after so many more."""
PRIOR = 0.5
"""Jeffreys' prior of an arm's mean return: Beta(1/2, 1/2)."""


@dataclass(frozen=True)
class Trial:
    """One play to make: an instance (``seed``) and whether the hint is shown."""

    seed: int
    arm: Arm


@dataclass(frozen=True)
class Tally:
    """The plays of one arm: how many finished, the sum of their returns, the lowest, how many may follow."""

    plays: int
    total: float
    least: float
    left: int

    @property
    def mean(self) -> float:
        """The mean return; nan before the first play."""
        return self.total / self.plays if self.plays else math.nan

    def finals(self) -> list[tuple[float, float]]:
        """Return (mean return, probability) of this arm once all that may follow was played.

        Beta-binomial, as if every play still to come was won or lost whole: returns in between
        spread less, so that the rule errs to the side of playing on.
        """
        chances = _beta_binomial(self.left, PRIOR + self.total, PRIOR + self.plays - self.total)
        whole = self.plays + self.left
        return [((self.total + wins) / whole, chance) for wins, chance in enumerate(chances)]


@lru_cache(maxsize=65536)
def wanted(unhinted: Tally, hinted: Tally, error: float) -> tuple[Arm, ...]:
    """Return the arms that need more plays before the environment's status is clear.

    Nothing is played on once all plays that are left would change the status with a probability of
    at most ``error``. An arm waits when, whatever the other arm still shows, its own remaining plays
    would change the status with at most that probability: a mean return far from the band needs no
    hinted plays, a clear regret no more of them. This is stochastic curtailment with the predictive
    probability of the posterior (Lan, Simon and Halperin 1982; Spiegelhalter et al. 1986). With
    ``error`` 0 every play is made.

    Before an environment is taken for a password (``hint_only``) its hinted arm is played out, or until
    such a play is lost: four wins in a row are no rarity where the hint helps seven times in ten.
    """
    left = tuple(arm for arm, tally in zip(ARMS, (unhinted, hinted), strict=True) if tally.left > 0)
    if error <= 0 or not unhinted.plays or not hinted.plays:
        return left
    arms = _open(unhinted, hinted, left, error)
    if not arms and hinted.left and is_hint_only((unhinted.mean,), (hinted.least,)):
        return ("hinted",)
    return arms


def _open(unhinted: Tally, hinted: Tally, left: tuple[Arm, ...], error: float) -> tuple[Arm, ...]:
    """Return the arms of ``left`` that may still change what the means say, passwords aside."""
    now = _verdict(unhinted.mean, hinted.mean)
    changed = dict.fromkeys(("all", *ARMS), 0.0)
    for (bare, p), (helped, q) in itertools.product(unhinted.finals(), hinted.finals()):
        final = _verdict(bare, helped)
        changed["all"] += p * q * (final != now)
        changed["unhinted"] += p * q * (final != _verdict(unhinted.mean, helped))
        changed["hinted"] += p * q * (final != _verdict(bare, hinted.mean))
    if changed["all"] <= error:
        return ()
    return tuple(arm for arm in left if changed[arm] > error)


class Probe:
    """What to play next for one environment: a pure function of what was played.

    Every seed is played at most once in each arm, in one order of seeds, so that the arm that stops
    first has played a beginning of the other's seeds: they pair the arms, which cuts the variance of
    their difference when an instance's difficulty varies. The order of plays within a batch is drawn for each
    environment, so that a program which keeps count of its episodes cannot tell its arm.
    """

    def __init__(self, plays: int, error: float, *, seed: int, environment: str) -> None:
        self.error = error
        self.seeds = tuple(
            derive(seed, "instance", environment, index) % 2**31 for index in range(plays)
        )
        self._order = derive(seed, "probe", environment)

    def next(self, done: Sequence[PlayRecord]) -> list[Trial]:
        """Return the trials of the next batch, none when the measurement is finished."""
        tried = {arm: sum(play.arm == arm for play in done) for arm in ARMS}
        unhinted, hinted = (self._tally(arm, tried[arm], done) for arm in ARMS)
        trials = [
            Trial(seed, arm)
            for arm in wanted(unhinted, hinted, self.error)
            for seed in self.seeds[tried[arm] : next_look(tried[arm], len(self.seeds), self.error)]
        ]
        random.Random(derive(self._order, "batch", len(done))).shuffle(trials)
        return trials

    def _tally(self, arm: Arm, tried: int, done: Sequence[PlayRecord]) -> Tally:
        returns = [
            play.episode_return
            for play in done
            if play.arm == arm and play.episode_return is not None
        ]
        least = min(returns, default=math.nan)
        return Tally(len(returns), math.fsum(returns), least, len(self.seeds) - tried)


def next_look(tried: int, plays: int, error: float) -> int:
    """Return how many of its ``plays`` an arm that made ``tried`` has made at the next look."""
    return plays if error <= 0 else min(plays, max(FIRST_LOOK, tried + LOOK_EVERY))


def _verdict(unhinted: float, hinted: float) -> str:
    return status(unhinted, hinted - unhinted, False, 1)


@lru_cache(maxsize=65536)
def _beta_binomial(n: int, a: float, b: float) -> tuple[float, ...]:
    """Return the probabilities of 0..n successes in ``n`` trials whose rate is Beta(a, b)."""

    def log_beta(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    def ways() -> Iterator[float]:
        for k in range(n + 1):
            choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
            yield math.exp(choose + log_beta(a + k, b + n - k) - log_beta(a, b))

    return tuple(ways())
