"""The card of a release: ``README.md`` with the front matter that the Hub reads. Pure."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jinja2

from envgen.publish import rows
from envgen.publish.scan import KINDS
from memory.releases import format_shards
from memory.standing import FRONTIER_HIGH, FRONTIER_LOW, STATUSES
from memory.stats import passed

if TYPE_CHECKING:
    from envgen.publish.build import Request, Summary

SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
TOLD = 12
"""Findings and held questions that the card lists one by one."""
MEANINGS = {
    "frontier": (
        f"mean return without the hint in [{FRONTIER_LOW}, {FRONTIER_HIGH}], and the hint helps"
    ),
    "mastered": "the solver wins without the hint",
    "hopeless": "the solver hardly ever wins without the hint",
    "hint_only": "every play with the hint wins and no other: the hint may be a password",
    "unmeasured": "nobody has played it enough",
}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$])")


def render(
    request: "Request", summary: "Summary", counts: Mapping[str, int], pictures: Mapping[str, str]
) -> str:
    """Return the text of the card. ``counts`` are rows by file, ``pictures`` titles by file."""
    tables = {
        name: sum(count for place, count in counts.items() if place.startswith(f"{name}/"))
        for name in rows.SCHEMAS
        if any(place.startswith(f"{name}/") for place in counts)
    }
    # An imported environment bears the version of the home that imported it, which designed nothing.
    designed = [row for row in summary.environments if not row["imported"]]
    found = Counter(finding.kind for finding in summary.findings)
    return _template().render(
        name=request.name,
        title=_plain(request.name.partition("/")[2].replace("-", " ").replace("_", " ")),
        tag=request.tag,
        licence=request.config.licence,
        size=size_category(tables["environments"]),
        tables=tables,
        shards=format_shards([head.shard for head in request.shards]),
        pictures=pictures,
        settings=Counter(row["setting"] for row in summary.environments),
        statuses=_statuses(summary),
        versions=sorted({row["policy_version"] for row in designed}),
        designed=len(designed),
        hinted=sum(row["hinted"] for row in summary.environments),
        solved=sum(row["solved"] for row in summary.environments),
        part=partial(_part, len(summary.environments)),
        isolations=sorted({row["isolation"] for row in summary.environments}),
        examples=_examples(summary),
        funnel=passed(summary.funnel),
        designs=sum(summary.funnel.values()),
        faulted=sum(n for (outcome, _, _), n in summary.funnel.items() if outcome == "faulted"),
        alarms=summary.alarms[:TOLD],
        found={kind: found[kind] for kind in KINDS},
        findings=[one for one in summary.findings if not one.blocks][:TOLD],
        lists=summary.lists,
        held=list(summary.held.items())[:TOLD],
        unplayed=list(summary.unplayed.items())[:TOLD],
        n_unplayed=len(summary.unplayed),
        leaves=request.config.contaminated == "leave out",
        n_held=len(summary.held),
        overlap=request.config.overlap,
        origins=summary.origins,
        imported=len(summary.environments) - len(designed),
        believed=summary.believed,
        documents=summary.documents,
        documents_left=summary.documents_left,
        documents_ambiguous=summary.documents_ambiguous,
        plays=request.config.plays,
        plays_in_shards=summary.plays_in_shards,
    )


def size_category(count: int) -> str:
    """Return the Hub's size category for so many rows."""
    return next((name for limit, name in SIZES if count < limit), "10M<n<100M")


def _statuses(summary: "Summary") -> list[tuple[str, int, str]]:
    counts = Counter(row["status"] for row in summary.environments)
    return [(name, counts[name], MEANINGS[name]) for name in STATUSES if counts[name]]


def _examples(summary: "Summary") -> list[Mapping[str, Any]]:
    """Return the rows of greatest regret at the frontier, or the first ones."""
    measured = [row for row in summary.environments if row["status"] == "frontier"]
    measured.sort(key=lambda row: (-(row["regret"] or 0.0), row["id"]))
    return (measured or summary.environments)[:5]


def _part(total: int, count: int) -> str:
    """Return how many of all have something, in the words that begin a sentence."""
    if count == total:
        return "All have"
    return f"{count or 'None'} of them {'has' if count == 1 else 'have'}"


def _plain(text: str) -> str:
    """Return a text that a program or a person wrote so that Markdown takes it as it is."""
    one_line = " ".join(text.split())
    shown = "".join(char for char in one_line if char.isprintable())[:160]
    return _SPECIAL.sub(r"\\\1", shown)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


@cache
def _template() -> jinja2.Template:
    # Autoescape is for HTML; what others wrote goes through the filter `plain`.
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters["plain"] = _plain
    environment.filters["number"] = _number
    text = (files("envgen.publish") / "card.md.jinja").read_text(encoding="utf-8")
    return environment.from_string(text)
