"""What the designer is paid: pure functions of an environment's two mean returns (SPADE, arXiv 2608.19197)."""

import math
from dataclasses import dataclass
from typing import Literal, Self

PLATEAU = (0.4, 0.6)
RAMP = 0.25
REGRET_SCALE = 0.15
BLEND = 0.6
FAST, SLOW = 0.98, 0.85
"""How much a new return weighs in the two moving averages of the solver's return in a skill."""

Kind = Literal["blend", "regret", "solve_rate", "learning_potential"]


def plateau(mean: float) -> float:
    """1 on [0.4, 0.6], falling linearly to 0 at 0.15 and 0.85: solvable, not yet solved."""
    _check(mean)
    low, high = PLATEAU
    distance = max(low - mean, mean - high, 0.0)
    return max(0.0, 1.0 - distance / RAMP)


def regret(hinted: float, unhinted: float) -> float:
    """``max(0, h - m)``: the signed regret is kept in the store and floored only here."""
    _check(hinted, unhinted)
    return max(0.0, hinted - unhinted)


def blend(hinted: float, unhinted: float) -> float:
    """``0.6 plateau(m) + 0.4 clip(r / 0.15, 0, 1)``: the paper's main recipe."""
    share = min(1.0, regret(hinted, unhinted) / REGRET_SCALE)
    return BLEND * plateau(unhinted) + (1 - BLEND) * share


def solve_rate(hinted: float, unhinted: float) -> float:
    """``plateau(m)`` alone; the hinted arm does not count."""
    _check(hinted)
    return plateau(unhinted)


@dataclass(frozen=True)
class Averages:
    """Moving averages of the solver's unhinted return in one skill; None before the first one."""

    fast: float | None = None
    slow: float | None = None

    def after(self, mean: float) -> Self:
        """Return the averages once an environment with this mean return was measured."""
        _check(mean)
        if self.fast is None or self.slow is None:
            return type(self)(mean, mean)
        return type(self)(
            FAST * mean + (1 - FAST) * self.fast, SLOW * mean + (1 - SLOW) * self.slow
        )


def learning_potential(unhinted: float, before: Averages) -> float:
    """Return how far ``m`` moves the fast average of its skill from the slow one, scaled to [0, 1].

    ``|fast - slow| / (2 (0.98 - 0.85))`` after the new return, at most 1: about half of the distance
    of ``m`` from the slow average. 0 for a skill's first environment.
    """
    after = before.after(unhinted)
    assert after.fast is not None and after.slow is not None
    return min(1.0, abs(after.fast - after.slow) / (2 * (FAST - SLOW)))


def designer_reward(kind: Kind, hinted: float, unhinted: float, before: Averages) -> float:
    """Return what a design is paid under one of the four variants that the paper runs.

    ``before`` are the averages of its skill when its round began. Raises ``ValueError`` for a mean
    that is no return.
    """
    match kind:
        case "blend":
            return blend(hinted, unhinted)
        case "regret":
            return regret(hinted, unhinted)
        case "solve_rate":
            return solve_rate(hinted, unhinted)
        case "learning_potential":
            return learning_potential(unhinted, before)


def _check(*means: float) -> None:
    for mean in means:
        if not (math.isfinite(mean) and 0.0 <= mean <= 1.0):
            raise ValueError(f"a mean return must lie in [0, 1], got {mean}")
