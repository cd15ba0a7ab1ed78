"""What the designer is paid: pure functions of an environment's two mean returns (SPADE, arXiv 2608.19197)."""

import math
from collections.abc import Callable, Mapping

PLATEAU = (0.4, 0.6)
RAMP = 0.25
REGRET_SCALE = 0.15
BLEND = 0.6


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


REWARDS: Mapping[str, Callable[[float, float], float]] = {
    "blend": blend,
    "regret": regret,
    "solve_rate": solve_rate,
}


def _check(*means: float) -> None:
    for mean in means:
        if not (math.isfinite(mean) and 0.0 <= mean <= 1.0):
            raise ValueError(f"a mean return must lie in [0, 1], got {mean}")
