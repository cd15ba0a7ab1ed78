"""Pure rules over plays: paired regret with its interval, and the status that follows."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.schema import PlayRecord, StandingRecord

FRONTIER_LOW, FRONTIER_HIGH = 0.15, 0.85
STATUSES = ("frontier", "mastered", "hopeless", "hint_only", "unmeasured")
NAN = math.nan

# Two-sided 95 % quantiles of Student's t for 1..10 degrees of freedom.
_T95 = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281)
_Z95 = 1.959964


@dataclass(frozen=True)
class Regret:
    """Mean returns of the arms, the signed difference hinted - unhinted, its 95 % interval."""

    plays_unhinted: int
    plays_hinted: int
    return_unhinted: float
    return_hinted: float
    regret: float
    low: float
    high: float


def status(return_unhinted: float | None, regret: float | None, hint_only: bool, plays: int) -> str:
    """Return the status of an environment from its mean unhinted return, regret and plays.

    ``frontier``: return in [0.15, 0.85] and regret > 0. ``mastered``: above the band; ``hopeless``:
    below it. Inside the band without regret there is nothing to learn from the hint: the nearer end
    counts (0.5 and above is ``mastered``). ``hint_only``: flagged as one that only hinted plays
    win. ``unmeasured``: no plays, a return of None or nan, or inside the band with an unknown
    regret.
    """
    if plays <= 0 or return_unhinted is None or math.isnan(return_unhinted):
        return "unmeasured"
    if hint_only:
        return "hint_only"
    if not FRONTIER_LOW <= return_unhinted <= FRONTIER_HIGH:
        return "hopeless" if return_unhinted < FRONTIER_LOW else "mastered"
    if regret is None or math.isnan(regret):
        return "unmeasured"
    nearer_end = "mastered" if return_unhinted >= 0.5 else "hopeless"
    return "frontier" if regret > 0 else nearer_end


def is_hint_only(unhinted: Sequence[float], hinted: Sequence[float]) -> bool:
    """Say whether no unhinted play wins anything (mean below 0.05) and every hinted play wins."""
    if not unhinted or not hinted:
        return False
    return sum(unhinted) / len(unhinted) < 0.05 and min(hinted) >= 0.95


def regret_summary(
    unhinted: Iterable[tuple[int, float]], hinted: Iterable[tuple[int, float]]
) -> Regret:
    """Summarise two arms given as (seed, return) pairs.

    The regret is the difference of the arms' means. Its 95 % interval is Student's t over the
    paired differences, one per seed that both arms played (several plays of one seed are averaged
    first). Without two common seeds the interval is Welch's, with the smaller arm's degrees of
    freedom; with fewer than two plays in an arm it is [-1, 1]. nan where an arm has no play.
    """
    bare, helped = list(unhinted), list(hinted)
    mean_bare, mean_helped = _mean([r for _, r in bare]), _mean([r for _, r in helped])
    difference = mean_helped - mean_bare
    if math.isnan(difference):
        low = high = NAN
    else:
        half = _half_width(bare, helped)
        low, high = max(-1.0, difference - half), min(1.0, difference + half)
    return Regret(len(bare), len(helped), mean_bare, mean_helped, difference, low, high)


def measure(
    environment: str, policy_version: int, plays: Iterable[PlayRecord], updated: int
) -> StandingRecord:
    """Return the standing of an environment from its plays with one policy version.

    Plays of other environments or versions and faulted plays are left out.
    """
    arms: dict[str, list[tuple[int, float]]] = {"unhinted": [], "hinted": []}
    for play in plays:
        mine = play.environment == environment and play.policy_version == policy_version
        if mine and play.episode_return is not None and not play.fault:
            arms[play.arm].append((play.seed, play.episode_return))
    bare, helped = arms["unhinted"], arms["hinted"]
    summary = regret_summary(bare, helped)
    hint_only = is_hint_only([r for _, r in bare], [r for _, r in helped])
    return StandingRecord(
        environment=environment,
        policy_version=policy_version,
        plays_unhinted=summary.plays_unhinted,
        plays_hinted=summary.plays_hinted,
        return_unhinted=summary.return_unhinted,
        return_hinted=summary.return_hinted,
        regret=summary.regret,
        regret_low=summary.low,
        regret_high=summary.high,
        status=status(summary.return_unhinted, summary.regret, hint_only, summary.plays_unhinted),
        hint_only=hint_only,
        updated=updated,
    )


def t95(freedom: int) -> float:
    """Return the two-sided 95 % quantile of Student's t (Cornish-Fisher above 10, error < 1e-3)."""
    if freedom < 1:
        raise ValueError("a t quantile needs at least 1 degree of freedom")
    if freedom <= len(_T95):
        return _T95[freedom - 1]
    z = _Z95
    first = (z**3 + z) / (4 * freedom)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    return z + first + second + third


def _half_width(bare: list[tuple[int, float]], helped: list[tuple[int, float]]) -> float:
    by_seed = [_by_seed(bare), _by_seed(helped)]
    common = sorted(by_seed[0].keys() & by_seed[1].keys())
    if len(common) >= 2:
        differences = [by_seed[1][seed] - by_seed[0][seed] for seed in common]
        return t95(len(common) - 1) * math.sqrt(_variance(differences) / len(common))
    if min(len(bare), len(helped)) < 2:
        return 2.0
    spread = _variance([r for _, r in bare]) / len(bare)
    spread += _variance([r for _, r in helped]) / len(helped)
    return t95(min(len(bare), len(helped)) - 1) * math.sqrt(spread)


def _by_seed(plays: list[tuple[int, float]]) -> dict[int, float]:
    groups: dict[int, list[float]] = {}
    for seed, value in plays:
        groups.setdefault(seed, []).append(value)
    return {seed: _mean(values) for seed, values in groups.items()}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else NAN


def _variance(values: Sequence[float]) -> float:
    centre = _mean(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)
