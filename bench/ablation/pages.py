"""Tell what came out: tables in the terminal, and files to keep: JSON, Markdown and pictures."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.ablation.arms import ARMS
from bench.ablation.findings import (
    FIRST,
    TITLES,
    Arms,
    compared,
    end_of,
    learned,
    method,
    parts,
    places,
    start_of,
)
from bench.ablation.forest import Group, Row, forest
from bench.ablation.outcome import (
    Cluster,
    Lead,
    Trained,
    abroad,
    curve,
    entry,
    gain,
    lead,
    lead_abroad,
)
from bench.charts import Point, Series
from bench.heldout.results import DECODINGS
from bench.picture import picture
from bench.text import number_text, signed_text
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.files import write_atomic

Table = tuple[str, list[str], list[list[str]]]
HEALTH = ("valid", "new", "learnable", "vendi", "reward", "regret")
ALL = "all"
"""Stands where a seed's number does."""
HELDOUT = "held-out environments"
CHANGE = ("sampled: start", "end", "change", "greedy: start", "end ", "change ")
LATE = "what the other arms designed late"
ABOUT = {
    "learning": "Error bars: 95 % intervals over environments; the seeds of an arm together.",
    "seeds": "95 % intervals over environments. How far seeds lie apart says how another seed might go.",
    "chance": "Of twenty such intervals about one misses the truth by chance.",
}
DESIGNS = (
    "First -> last quarter of the rounds in which the arm designed; of a fixed pool those are the rounds of "
    "the pool. `valid` of the designs, `new` of the valid, `learnable` of the new (mean return without the "
    "hint in [0.15, 0.85]), `vendi`: diversity, 1 where all differ; `reward` of the designer, as its arm pays "
    "it: not comparable between arms with other rewards; `regret`: return with the hint less without."
)
BUDGETS = (
    "Plays the solver's steps were given, and those with a gradient: a group whose plays all come out the "
    "same has none."
)


def write(arms: Arms, folder: Path) -> list[Path]:
    """Write ``learning.json``, ``learning.md`` and the pictures; return their paths.

    Raises ``BadInput`` where the folder cannot be written.
    """
    files = {
        "learning.json": json.dumps(_entries(arms), indent=2) + "\n",
        **{f"{name}.svg": text for name, text in pictures(arms).items()},
        "learning.md": markdown(arms),
    }
    try:
        for name, text in files.items():
            write_atomic(folder / name, text.encode())
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror or error}") from None
    return [folder / name for name in files]


def show(session: Session, arms: Arms, paths: Sequence[Path]) -> None:
    """Print the tables, the findings and where the files are; with ``--json`` the records."""
    report = session.report
    if report.as_json:
        report.data(_entries(arms))
    else:
        for title, columns, rows in tables(arms):
            report.table(title, columns, rows)
        for line in (method(arms), *learned(arms), *compared(arms)):
            report.text(line)
    report.note("kept in " + ", ".join(str(path) for path in paths))


def _entries(arms: Arms) -> list[dict[str, Any]]:
    return [entry(one) for several in arms.values() for one in several]


def tables(arms: Arms) -> list[Table]:
    """Return (title, columns, rows): changes, leads, the same abroad, designs, budgets."""
    found = [_changes(arms), *_parts(arms)]
    if FIRST in arms and len(arms) > 1:
        found.append(_leads(arms, HELDOUT, lead))
    away = {name: arm for name, arm in arms.items() if all(one.others for one in arm)}
    if away:
        found.append(_away(away))
        if FIRST in away and len(away) > 1:
            found.append(_leads(away, LATE, lead_abroad))
    return [*found, _designs(arms), _budgets(arms)]


def _changes(arms: Arms) -> Table:
    """Every seed, and the seeds of an arm together where there are several."""
    rows = []
    for name, several in arms.items():
        for arm in (*([one] for one in several), *([several] if len(several) > 1 else [])):
            rows.append([name, ALL if len(arm) > 1 else str(arm[0].seed), *_change(arm)])
    return f"mean return on {HELDOUT}", ["arm", "seed", *CHANGE], rows


def _parts(arms: Arms) -> list[Table]:
    """The same for each part of the held-out set that ships; none of another set."""
    rows = []
    for name, several in arms.items():
        for part, arm in parts(several).items():
            rows.append([name, part, str(arm[0].end.estimate("sampled").clusters), *_change(arm)])
            families = gain(arm, "sampled", "family").clusters
            if families > 1:
                told = f"{part}, intervals by family"
                rows.append([name, told, f"{families} families", *_change(arm, "family")])
    title = f"the same by part of the set{_over(arms)}"
    return [(title, ["arm", "part", "environments", *CHANGE], rows)] if rows else []


def _change(arm: Sequence[Trained], by: Cluster = "id") -> list[str]:
    return [
        text
        for decoding in DECODINGS
        for text in (
            number_text(start_of(arm, decoding).mean),
            number_text(end_of(arm, decoding).mean),
            signed_text(gain(arm, decoding, by)),
        )
    ]


def _leads(arms: Arms, where: str, of: Lead) -> Table:
    rows = []
    for name in arms:
        if name != FIRST:
            found = [of(arms[FIRST], arms[name], decoding) for decoding in DECODINGS]
            rows.append([name, *(signed_text(one) for one in found), str(found[0].clusters)])
            if of is lead and (told := _lead_by_family(arms[FIRST], arms[name])):
                rows.append([f"{name}, grammar by family", *told])
    title = f"how far {TITLES[FIRST]} ends above each other arm, on {where}{_over(arms)}"
    return title, ["arm", *DECODINGS, "environments"], rows


def _lead_by_family(first: Sequence[Trained], other: Sequence[Trained]) -> list[str]:
    """The lead on the grammar's part with families for observations; [] where the set has no such part."""
    both = [parts(arm).get("grammar") for arm in (first, other)]
    if not both[0] or not both[1]:
        return []
    found = [lead(both[0], both[1], decoding, "family") for decoding in DECODINGS]
    return [*(signed_text(one) for one in found), f"{found[0].clusters} families"]


def _away(arms: Arms) -> Table:
    rows = []
    for name, several in arms.items():
        found = [abroad(several, decoding) for decoding in DECODINGS]
        rows.append([name, *(signed_text(one) for one in found), str(found[0].clusters)])
    title = f"change from first to last version on {LATE}{_over(arms)}"
    return title, ["arm", *DECODINGS, "environments"], rows


def _over(arms: Arms) -> str:
    return ", all seeds" if any(len(several) > 1 for several in arms.values()) else ""


def _designs(arms: Arms) -> Table:
    rows = []
    for name, several in arms.items():
        for one in several:
            rows.append(
                [name, str(one.seed), *(_ends(getattr(one.health, figure)) for figure in HEALTH)]
            )
        if len(several) > 1:
            rows.append(
                [
                    *(name, ALL),
                    *(
                        _ends(_means([getattr(one.health, figure) for one in several]))
                        for figure in HEALTH
                    ),
                ]
            )
    return (
        "designs, first -> last quarter of the rounds that design",
        ["arm", "seed", *HEALTH],
        rows,
    )


def _budgets(arms: Arms) -> Table:
    rows = [
        [
            *(name, str(one.seed), str(one.rounds), f"{one.budget.plays:,}"),
            f"{one.budget.trained:,}",
            f"{one.budget.trained / one.budget.plays:.2f}" if one.budget.plays else "-",
        ]
        for name, several in arms.items()
        for one in several
    ]
    return "budgets", ["arm", "seed", "steps", "plays", "of them with a gradient", "share"], rows


def pictures(arms: Arms) -> dict[str, str]:
    """Return the SVG documents by name: returns over versions, changes by seed, leads."""
    found = {"learning": _curves(arms), "changes": _forest(arms)}
    if FIRST in arms and len(arms) > 1:
        found["leads"] = _lead_forest(arms)
    return found


def markdown(arms: Arms) -> str:
    """Return the page: what was done, what came out, pictures, tables."""
    page = ["# Does self-play help?", "", method(arms), ""]
    page += [f"- `{name}`: {_recipe(name)}" for name in arms]
    page += ["", "## What came out", ""]
    page += [f"- {_capital(line)}" for line in learned(arms)]
    leads = compared(arms)
    if leads:
        page += ["", *(f"- {_capital(line)}" for line in leads), "", ABOUT["chance"]]
    page.append("")
    for name in pictures(arms):
        page += [f"![{name.capitalize()}]({name}.svg)", ""]
    page += ["## Figures", ""]
    for title, columns, rows in tables(arms):
        names = [column.strip() for column in columns]
        page += [f"**{_capital(title)}**", ""]
        page += [f"| {' | '.join(row)} |" for row in (names, ["---"] * len(names), *rows)]
        page.append("")
    page += [DESIGNS, "", BUDGETS, ""]
    return "\n".join(page)


def _recipe(name: str) -> str:
    arm = next(one for one in ARMS if one.name == name)
    laid = ", ".join(f"`{overlay}.toml`" for overlay in arm.overlays)
    return f"{arm.title} ({laid} laid over the recipe)" if laid else f"{arm.title} (the recipe)"


def _curves(arms: Arms) -> str:
    """The held-out return by policy version, one line an arm, at the training temperature."""
    series = [
        Series(
            TITLES[name],
            tuple(
                Point(float(version), found.mean, found.low, found.high)
                for version, found in curve(several, "sampled")
            ),
        )
        for name, several in arms.items()
    ]
    count = max(len(several) for several in arms.values())
    title = f"Mean return on {HELDOUT}, sampled, {count} seed{'s' if count != 1 else ''}"
    return picture(title, series, x_label="policy version", note=[ABOUT["learning"]])


def _forest(arms: Arms) -> str:
    groups = []
    for colour, (name, several) in enumerate(arms.items()):
        rows = [
            Row(f"seed {one.seed}", tuple(gain([one], decoding) for decoding in DECODINGS))
            for one in several
        ]
        if len(several) > 1:
            every = tuple(gain(several, decoding) for decoding in DECODINGS)
            rows.append(Row("all seeds", every, whole=True))
        groups.append(Group(TITLES[name], colour, tuple(rows)))
    title = f"Change of the return on {HELDOUT}, last version less starting policy"
    return forest(title, groups, DECODINGS, [ABOUT["seeds"]])


def _lead_forest(arms: Arms) -> str:
    groups = []
    for colour, name in enumerate(arms):
        if name == FIRST:
            continue
        rows = []
        for where, of in places(arms[FIRST], arms[name]):
            values = tuple(of(arms[FIRST], arms[name], decoding) for decoding in DECODINGS)
            if values[0].mean is not None:
                rows.append(Row(where, values, whole=of is lead))
        groups.append(Group(TITLES[name], colour, tuple(rows)))
    title = f"How far {TITLES[FIRST]} ends above each other arm{_over(arms)}"
    note = f"95 % intervals over environments. {ABOUT['chance']}"
    return forest(title, groups, DECODINGS, [note])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _means(
    pairs: Sequence[tuple[float | None, float | None]],
) -> tuple[float | None, float | None]:
    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return fmean(known) if known else None

    return mean([first for first, _ in pairs]), mean([last for _, last in pairs])


def _ends(pair: tuple[float | None, float | None]) -> str:
    return " -> ".join("-" if value is None else f"{value:.2f}" for value in pair)
