"""The tables that end ``generate`` and ``loop``: rounds, where designs fell, what the monitors found."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from envgen.monitors import WORDS
from memory.stats import passed
from spadekit.report import Report

Summary = Mapping[str, Any]
Column = tuple[str, Any]
ROUNDS: Sequence[Column] = (
    ("round", lambda one: one["round"]),
    ("policy", lambda one: one["policy_version"]),
    ("designs", lambda one: one["designs"]),
    ("valid", lambda one: one["valid"]),
    ("repaired", lambda one: one.get("repaired", 0)),
    ("new", lambda one: one["admitted"]),
    ("unhinted", lambda one: one["return_unhinted"]),
    ("hinted", lambda one: one["return_hinted"]),
    ("regret", lambda one: one["regret"]),
    ("learnable", lambda one: one["learnable"]),
    ("Vendi / n", lambda one: one.get("variety", {}).get("vendi_share")),
)
"""What came of each round; ``unhinted`` and ``hinted`` are mean returns."""
COSTS: Sequence[Column] = (
    ("round", lambda one: one["round"]),
    ("plays", lambda one: one["plays"]),
    ("for each new", lambda one: _share(one["plays"], one["admitted"])),
    ("tokens", lambda one: one["tokens"]),
    ("read", lambda one: one.get("bill", {}).get("read")),
    ("cost", lambda one: one.get("bill", {}).get("cost")),
    ("seconds", lambda one: one.get("round_seconds", one["seconds"]["total"])),
    ("designing, for each new", lambda one: _share(one["seconds"]["total"], one["admitted"])),
    ("outside the policy", lambda one: outside(one)),  # noqa: PLW0108 (defined below)
)
"""What each round cost, as far as it is known: only an endpoint tells what it read, and what for. Outside
the policy's passes is a share of a round's time, see ``summary.outside_share``."""

SPARE = (
    *("repaired", "policy", "Vendi / n", "designs"),
    *("designing, for each new", "read", "for each new"),
)
"""What a narrow terminal goes without."""


def show(report: Report, run: str, home: Any, summaries: Sequence[Summary]) -> None:
    """Print the tables of some rounds, and the monitors' alarms."""
    if not summaries:
        return
    known = [column for column in COSTS if any(column[1](one) is not None for one in summaries)]
    for title, columns in ((f"run {run} in {home}", ROUNDS), ("cost", known)):
        rows = [[_shown(value(one)) for _, value in columns] for one in summaries]
        report.table(title, [name for name, _ in columns], rows, spare=SPARE)
    fell = stages(summaries)
    if fell:
        report.table("where designs fell", ("stage", "fell", "left"), fell)
    found = monitors(summaries)
    if found:
        report.table("monitors", ("of these rounds", "count", "of", "share"), found)


def stages(summaries: Sequence[Summary]) -> list[tuple[str, int, int]]:
    """Return (stage, how many fell there, how many were left), over all rounds."""
    fell: Counter[str] = Counter()
    for one in summaries:
        fell.update(one["refused_at"])
    admitted = sum(one["admitted"] for one in summaries)
    funnel = {("", stage, ""): count for stage, count in fell.items()}
    return passed(funnel | {("admitted", "", ""): admitted})


def monitors(summaries: Sequence[Summary]) -> list[tuple[str, int, int, str]]:
    """Return (what is counted, how often, of how many, share), over all rounds."""
    rows = []
    for name, words in WORDS.items():
        found = [one["monitors"]["figures"][name] for one in summaries if "monitors" in one]
        count, of = (sum(one[key] for one in found) for key in ("count", "of"))
        if of:
            rows.append((words, count, of, f"{count / of:.2f}"))
    return rows


def outside(summary: Summary) -> float | None:
    """Return the share of a round's time outside the policy's passes, training included if it ran."""
    if "outside" in summary:
        share = summary["outside"]
        return None if share is None else float(share)
    seconds = summary["seconds"]
    return 1 - seconds["forward"] / seconds["total"] if seconds["total"] else None


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _shown(value: Any) -> Any:
    return f"{value:.2f}" if isinstance(value, float) else value
