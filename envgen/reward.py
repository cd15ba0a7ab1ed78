"""What the designer is paid: pure functions of an environment's two mean returns (METHOD: SPADE)."""

import math
from collections.abc import Callable, Mapping, Sequence

PLATEAU = (0.4, 0.6)
RAMP = 0.25
REGRET_SCALE = 0.15
BLEND = 0.6
MAX_SCALE = 50.0


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


def centred(rewards_N: Sequence[float | None], skill_N: Sequence[str]) -> list[float | None]:
    """Subtract the mean of each skill group; ``None`` (a fault of ours) is left out and stays.

    Centred but not divided by the deviation: with a handful of designs per skill the deviation is
    noise, and dividing by it blows small differences up.
    """
    total: dict[str, list[float]] = {}
    for reward, skill in zip(rewards_N, skill_N, strict=True):
        if reward is not None:
            total.setdefault(skill, []).append(reward)
    mean = {skill: math.fsum(values) / len(values) for skill, values in total.items()}
    return [
        None if reward is None else reward - mean[skill]
        for reward, skill in zip(rewards_N, skill_N, strict=True)
    ]


def role_scale(solver_samples: int, designer_samples: int, rounds_between: int = 1) -> float:
    """Weight of a designer sample so that both roles pull equally, at most 50 (METHOD: SPADE)."""
    if designer_samples < 1:
        return 0.0
    return min(MAX_SCALE, solver_samples / designer_samples * rounds_between)


def _check(*means: float) -> None:
    for mean in means:
        if not (math.isfinite(mean) and 0.0 <= mean <= 1.0):
            raise ValueError(f"a mean return must lie in [0, 1], got {mean}")
