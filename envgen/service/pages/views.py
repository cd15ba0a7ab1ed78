"""View models: what templates print, worked out from records. Pure; texts are escaped by the templates."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

from envgen.service.pages.catalogue import Entry, known
from envgen.service.pages.words import CHECKS
from memory import StandingRecord

AXIS_LOW, AXIS_HIGH, AXIS_WIDTH = -0.5, 1.0, 150
HIGHLIGHTED = 16_000
"""Characters of source that are highlighted: tags make a text five times as long."""
EVIDENCE = 1_500


@dataclass(frozen=True)
class Regret:
    """A regret with its 95 % interval, if it has one, and where they lie on the axis of the small chart."""

    regret: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, standing: StandingRecord | None) -> "Regret | None":
        """Return the view of a standing; None where nothing was measured."""
        if standing is None:
            return None
        low, high = known(standing.regret_low), known(standing.regret_high)
        # Without width it comes of a few plays that differ alike on every seed, and says nothing.
        if low is None or high is None or low >= high:
            low = high = None
        return cls(known(standing.regret), low, high)

    @property
    def at(self) -> float:
        """Place of the regret."""
        return _place(self.regret or 0.0)

    @property
    def low_at(self) -> float:
        """Place of the lower end."""
        return _place(self.low or 0.0)

    @property
    def high_at(self) -> float:
        """Place of the upper end."""
        return _place(self.high or 0.0)


@dataclass(frozen=True)
class Row:
    """One line of a list of environments."""

    entry: Entry
    regret: Regret | None

    @classmethod
    def of(cls, entry: Entry) -> "Row":
        """Return the view of an entry."""
        return cls(entry, Regret.of(entry.standing))


@dataclass(frozen=True)
class CheckView:
    """One check of a certificate as a claim, what was found, and the evidence as text."""

    claim: str
    verdict: str
    message: str
    evidence: str


@dataclass(frozen=True)
class Pair:
    """Plays of one instance by one version, without and with the hint; rows of the table of plays."""

    key: str
    seed: int
    policy_version: int
    unhinted: Mapping[str, Any] | None
    hinted: Mapping[str, Any] | None

    @property
    def gain(self) -> float:
        """How much more the hinted play returned; 0 where one is missing or faulted."""
        both = [one["episode_return"] for one in (self.hinted, self.unhinted) if one]
        if len(both) < 2 or None in both:
            return 0.0
        return float(both[0] - both[1])


def checks(certificate: str) -> list[CheckView]:
    """Return the checks of a stored certificate; none for one that cannot be read."""
    try:
        found = json.loads(certificate)["checks"]
        return [
            CheckView(
                CHECKS.get(one["name"], str(one["name"])),
                one["verdict"] if one["verdict"] in ("pass", "fail") else "unknown",
                str(one["message"]),
                _evidence(one.get("evidence") or {}),
            )
            for one in found
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def pairs(plays: Sequence[Mapping[str, Any]]) -> list[Pair]:
    """Pair plays of both arms by version and seed: newest version first, then where the hint helped."""
    arms: dict[tuple[int, int], dict[str, list[Mapping[str, Any]]]] = {}
    for one in sorted(plays, key=lambda play: str(play["id"])):
        key = (int(one["policy_version"]), int(one["seed"]))
        arms.setdefault(key, {"unhinted": [], "hinted": []})[str(one["arm"])].append(one)
    found = [
        Pair(f"{version}-{seed}-{number}", seed, version, plain, helped)
        for (version, seed), both in arms.items()
        for number, (plain, helped) in enumerate(
            itertools.zip_longest(both["unhinted"], both["hinted"])
        )
    ]
    whole = [one for one in found if one.unhinted and one.hinted]
    alone = [one for one in found if not (one.unhinted and one.hinted)]
    order = [
        sorted(part, key=lambda o: (-o.policy_version, -o.gain, o.seed)) for part in (whole, alone)
    ]
    return [*order[0], *order[1]]


@lru_cache(maxsize=64)
def highlighted(source: str) -> str:
    """Return a source as HTML, escaped, with classes; "" for one that is too long for that."""
    if len(source) > HIGHLIGHTED:
        return ""
    formatter = HtmlFormatter(nowrap=True)
    return str(highlight(source, PythonLexer(stripnl=False), formatter))


def _evidence(found: Mapping[str, Any]) -> str:
    if not found:
        return ""
    lines = []
    for key, value in found.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{key}: {shown}")
    text = "\n".join(lines)
    return text if len(text) <= EVIDENCE else f"{text[:EVIDENCE]} ..."


def _place(value: float) -> float:
    inside = min(AXIS_HIGH, max(AXIS_LOW, value))
    return round(AXIS_WIDTH * (inside - AXIS_LOW) / (AXIS_HIGH - AXIS_LOW), 1)
