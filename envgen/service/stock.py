"""The stock: frontier environments for one policy version, and what to do when there are too few.

All of it is pure; the worker carries out what ``next_action`` says, one job at a time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from memory import StandingRecord
from solver.sync import served

MOST_AT_ONCE = 64
"""Environments of one job that measures: a job is what a kill or a newer version waits for."""


@dataclass(frozen=True)
class Stock:
    """What there is for ``policy_version``: how many at its frontier, and which were at an older one's."""

    policy_version: int
    held: int
    stale: tuple[str, ...]
    """Ids of environments at the frontier of an older version, the likeliest to be there still first."""


@dataclass(frozen=True)
class Rest:
    """Nothing to do, and why."""

    reason: Literal["full", "barren"]


@dataclass(frozen=True)
class Measure:
    """Play these environments with the version."""

    environments: tuple[str, ...]


@dataclass(frozen=True)
class Design:
    """Design one more round with the version."""


Action = Rest | Measure | Design


def take_stock(latest: Iterable[StandingRecord], policy_version: int) -> Stock:
    """Count the stock in each environment's newest standing of at most ``policy_version``.

    Newer standings are left out: they say nothing about this version. Among the stale, those
    measured last come first, then those whose return is nearest to one half.
    """
    held, stale = 0, []
    for one in latest:
        if one.status == "frontier" and one.policy_version == policy_version:
            held += 1
        elif one.status == "frontier" and one.policy_version < policy_version:
            stale.append(one)
    stale.sort(key=lambda o: (-o.policy_version, abs(o.return_unhinted - 0.5), o.environment))
    return Stock(policy_version, held, tuple(one.environment for one in stale))


def next_action(stock: Stock, *, level: int, barren_rounds: int, most_barren: int) -> Action:
    """Return what brings the stock nearer to ``level``: measuring is cheaper than designing.

    ``barren_rounds``: rounds in a row that added nothing with this version.
    """
    missing = level - stock.held
    if missing <= 0:
        return Rest("full")
    if stock.stale:
        return Measure(stock.stale[: min(missing, MOST_AT_ONCE)])
    if barren_rounds >= most_barren:
        return Rest("barren")
    return Design()


def pause_s(failures: int, first_s: float) -> float:
    """Return how long to wait after so many failures in a row: doubled each time, at most an hour."""
    return min(first_s * 2.0 ** min(failures - 1, 20), 3600.0) if failures > 0 else 0.0


def target_version(newest: int, every: int, pinned: int | None) -> int:
    """Return the version that shall serve: the pinned one, else the newest multiple of ``every``."""
    return served(newest, every) if pinned is None else pinned
