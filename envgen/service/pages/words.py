"""How figures and names read on a page. Pure."""

import datetime as dt

MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"
STATUSES = {
    "frontier": ("frontier", "can be learnt from: won now and then, and the hint helps"),
    "mastered": ("mastered", "won nearly always without the hint"),
    "hopeless": ("hopeless", "hardly ever won without the hint"),
    "hint_only": ("hint only", "won always with the hint and never without"),
    "unmeasured": ("unmeasured", "not enough plays yet"),
}
"""Status -> (name, what it means)."""
CHECKS = {
    "source": "One class, readable Python",
    "loads": "Loads in the sandbox",
    "contract": "Keeps the contract, whatever is played",
    "deterministic": "The same seed gives the same play",
    "seeded": "Seeds give different tasks",
    "solvable": "Its own solution wins",
    "nontrivial": "Nobody wins without skill",
    "sealed": "No text gives the answer away",
    "hint": "The hint does not tell the answer",
    "bounded": "Ends by itself",
}
"""Checks of a certificate, as claims."""
STAGES = {
    "read": "not readable",
    "diversity": "like a known one",
    "probe": "failed in play",
    "setting": "wrong kind",
}
"""Where designs fall, besides the checks."""
ROLES = {"assistant": "policy", "user": "environment", "tool": "tool", "system": "rules"}
WHY = {
    "frontier": "at the frontier",
    "unmeasured": "not measured yet",
    "replayed": "from an older shard",
    "again": "looked at again",
    "pool": "of the pool",
}
"""Why a training step played an environment."""


def figure(value: float | None, digits: int = 2) -> str:
    """Return a figure with so many digits, a dash for none."""
    if value is None:
        return NONE
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        return f"{0:.{digits}f}"
    return text.replace("-", MINUS)


def signed(value: float | None) -> str:
    """Return a figure with its sign."""
    text = figure(value)
    return f"+{text}" if value is not None and float(f"{value:.2f}") > 0 else text


def share(value: float | None) -> str:
    """Return a share as per cent."""
    return NONE if value is None else f"{100 * value:.0f} %"


def count(value: float | None) -> str:
    """Return a whole number with thin spaces between thousands."""
    return NONE if value is None else f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def day(stamp: str) -> str:
    """Return an ISO time as a day and a minute; "" stays as it is."""
    try:
        return dt.datetime.fromisoformat(stamp).strftime("%-d %b %Y, %H:%M")
    except ValueError:
        return stamp


def plain(name: str) -> str:
    """Return a skill or another name as words."""
    return name.replace("_", " ")
