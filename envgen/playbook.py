"""The designer's playbook: per skill, in a few lines, what worked lately and what did not.

For a designer with frozen weights (``designer.learning = "context"``): it learns from what stands in its
prompt. The book is rewritten after each round by fixed rules from the figures of the newest shards, so it
can be computed again from the store; every shard keeps the one that it led to.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envgen.failures import Refusal, frequent
from memory import DesignRecord, EnvironmentRecord, StandingRecord, Store
from memory.standing import FRONTIER_HIGH, FRONTIER_LOW

SHARDS = 8
"""A page tells of so many rounds: older ones were of another solver."""
WORKED, REFUSED, NAMED = 3, 2, 2
"""Most environments, kinds of refusal, and titles in a line that a page names."""
LONGEST = 120
"""Characters of a title."""
JUDGED = 2
"""A level is judged by this many environments or more."""
DESIGN_COLUMNS = ("id", "shard", "brief", "outcome", "stage", "detail", "environment")


@dataclass(frozen=True)
class Attempt:
    """What became of one design; the returns are nan where nothing was measured."""

    shard: int
    id: str
    skill: str
    level: int
    outcome: str
    stage: str
    message: str
    title: str = ""
    unhinted: float = math.nan
    hinted: float = math.nan
    status: str = ""


@dataclass(frozen=True)
class Page:
    """One skill's page, each line a sentence for the prompt."""

    summary: str
    worked: tuple[str, ...]
    failed: tuple[str, ...]
    levels: tuple[str, ...]


Playbook = Mapping[str, Page]


def write(attempts: Iterable[Attempt]) -> Playbook:
    """Return a page for each skill that was attempted, in the order of their names."""
    by_skill: dict[str, list[Attempt]] = {}
    for one in sorted(attempts, key=lambda one: (one.shard, one.id)):
        if one.skill and one.outcome != "faulted":  # a fault of ours says nothing about a design
            by_skill.setdefault(one.skill, []).append(one)
    return {skill: _page(by_skill[skill]) for skill in sorted(by_skill)}


def attempts(
    designs: Sequence[DesignRecord],
    environments: Sequence[EnvironmentRecord],
    standings: Sequence[StandingRecord],
) -> list[Attempt]:
    """Return what became of the designs of a shard."""
    rows = [{name: getattr(one, name) for name in DESIGN_COLUMNS} for one in designs]
    return _joined(rows, {one.id: one.title for one in environments}, standings)


def of_store(store: Store, shards: int = SHARDS) -> list[Attempt]:
    """Return what became of the designs of the newest ``shards`` rounds; imports are no rounds."""
    heads = [one for one in store.shards() if one.meta.get("origin") != "import"][-shards:]
    if not heads:
        return []
    numbers = ", ".join(str(one.shard) for one in heads)
    where = f"shard IN ({numbers})"
    titles = store.scan("environments", where, ["id", "title"]).to_pylist()
    # As they were when the shard was published: later measurements are of other policies.
    standings = [
        StandingRecord(**row)
        for head in heads
        for row in store.member(head, "standings").to_pylist()
    ]
    return _joined(
        store.scan("designs", where, list(DESIGN_COLUMNS)).to_pylist(),
        {row["id"]: row["title"] for row in titles},
        standings,
    )


def as_meta(book: Playbook) -> dict[str, Any]:
    """Return the book as a shard's manifest keeps it."""
    return {
        skill: {
            "summary": page.summary,
            "worked": list(page.worked),
            "failed": list(page.failed),
            "levels": list(page.levels),
        }
        for skill, page in book.items()
    }


def _joined(
    rows: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str],
    standings: Iterable[StandingRecord],
) -> list[Attempt]:
    figures = {one.environment: one for one in standings}
    found = []
    for row in rows:
        brief = json.loads(row["brief"] or "{}")
        standing = figures.get(row["environment"])
        found.append(
            Attempt(
                shard=row["shard"],
                id=row["id"],
                skill=str(brief.get("skill", "")),
                level=int(brief.get("level", 0)),
                outcome=row["outcome"],
                stage=row["stage"],
                message=row["detail"],
                title=titles.get(row["environment"], ""),
                unhinted=standing.return_unhinted if standing else math.nan,
                hinted=standing.return_hinted if standing else math.nan,
                status=standing.status if standing else "",
            )
        )
    return found


def _page(tried: Sequence[Attempt]) -> Page:
    valid = [one for one in tried if one.outcome in ("admitted", "duplicate")]
    frontier = [one for one in tried if one.status == "frontier"]
    # The nearer to an even chance and the more the hint helps, the better; then the newer.
    frontier.sort(key=lambda one: (-_worth(one), -one.shard, one.id))
    return Page(
        summary=f"Of {len(tried)} design{_s(len(tried))} {len(valid)} passed every check and "
        f"{len(frontier)} came out at the right difficulty.",
        worked=tuple(
            f"{_title(one)} (level {one.level}; {_returns(one)})" for one in frontier[:WORKED]
        ),
        failed=_failed(tried),
        levels=_levels(tried),
    )


def _worth(one: Attempt) -> float:
    return (one.hinted - one.unhinted) - abs(one.unhinted - 0.5)


def _failed(tried: Sequence[Attempt]) -> tuple[str, ...]:
    refused = [Refusal(one.stage, one.message) for one in tried if one.outcome == "refused"]
    lines = [
        f"Refused at `{one.stage}`, {one.times} time{_s(one.times)}: {one.message}"
        for one in frequent(refused, REFUSED)
    ]
    copies = sum(one.outcome == "duplicate" for one in tried)
    if copies:
        lines.append(
            f"{copies} {'was a copy' if copies == 1 else 'were copies'} of what is known: "
            "take another mechanism, not another story."
        )
    for verdict, words in (
        ("hint_only", "won with the hint only, so the hint is a password: let the task tell more"),
        ("hopeless", "hardly ever won, or not more often with the hint"),
        ("mastered", "nearly always won, or won as often without the hint"),
    ):
        cases = [one for one in reversed(tried) if one.status == verdict]
        if cases:
            named = ", ".join(dict.fromkeys(_title(one) for one in cases[:NAMED]))
            lines.append(f"{len(cases)} {words}; lately {named}.")
    return tuple(lines)


def _levels(tried: Sequence[Attempt]) -> tuple[str, ...]:
    lines = []
    measured = [one for one in tried if not math.isnan(one.unhinted)]
    counts = Counter(one.level for one in measured)
    for level in sorted(level for level, count in counts.items() if count >= JUDGED):
        returns = [one.unhinted for one in measured if one.level == level]
        mean = math.fsum(returns) / len(returns)
        if mean < FRONTIER_LOW:
            verdict = "too hard: fewer steps, smaller instances, more in the observations"
        elif mean > FRONTIER_HIGH:
            verdict = "too easy: more steps, larger instances, less in the observations"
        else:
            verdict = "about right"
        of = f"Level {level}" if level else "The level you chose yourself"
        lines.append(
            f"{of} was {verdict} (mean return without the hint {mean:.2f}, "
            f"{len(returns)} environments)."
        )
    return tuple(lines)


def _title(one: Attempt) -> str:
    told = "".join(char if char.isprintable() else " " for char in one.title)
    return f'"{" ".join(told.split())[:LONGEST]}"'


def _returns(one: Attempt) -> str:
    return f"mean return {one.unhinted:.2f} without the hint, {one.hinted:.2f} with it"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
