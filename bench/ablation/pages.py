"""Tell what came out: a table in the terminal, and files to keep: JSON, Markdown and a picture."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.ablation.arms import ARMS
from bench.ablation.outcome import Trained, abroad, curve, entry, gain, lead, lead_abroad
from bench.ablation.picture import picture
from bench.charts import Point, Series
from bench.heldout.results import DECODINGS
from bench.report import estimate_text
from bench.statistics import Estimate
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.files import write_atomic

Arms = Mapping[str, Sequence[Trained]]
FIRST = "self_play"
TITLES = {arm.name: arm.title for arm in ARMS}
HEALTH = ("valid", "new", "learnable", "vendi", "reward", "regret")


def write(arms: Arms, folder: Path) -> list[Path]:
    """Write ``learning.json``, ``learning.md`` and ``learning.svg``; return their paths.

    Raises ``BadInput`` where the folder cannot be written.
    """
    paths = [folder / f"learning.{kind}" for kind in ("json", "md", "svg")]
    try:
        write_atomic(paths[0], json.dumps(_entries(arms), indent=2).encode() + b"\n")
        write_atomic(paths[1], _markdown(arms).encode())
        write_atomic(paths[2], _picture(arms).encode())
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror or error}") from None
    return paths


def show(session: Session, arms: Arms, paths: Sequence[Path]) -> None:
    """Print the table and where the files are; with ``--json`` the records."""
    report = session.report
    if report.as_json:
        report.data(_entries(arms))
    else:
        for title, columns, rows in tables(arms):
            report.table(title, columns, rows)
    report.note("kept in " + ", ".join(str(path) for path in paths))


def _entries(arms: Arms) -> list[dict[str, Any]]:
    return [entry(one) for several in arms.values() for one in several]


def tables(arms: Arms) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return (title, columns, rows): each seed's change, the arms together, the designer's health."""
    seeds = [
        [
            one.arm,
            str(one.seed),
            *(
                text
                for decoding in DECODINGS
                for text in (
                    _short(one.start.estimate(decoding).mean),
                    _short(one.end.estimate(decoding).mean),
                    _signed(gain([one], decoding)),
                )
            ),
        ]
        for several in arms.values()
        for one in several
    ]
    seed_columns = [
        "arm",
        "seed",
        "sampled: start",
        "end",
        "change",
        "greedy: start",
        "end ",
        "change ",
    ]
    whole = [
        [
            name,
            *(_signed(gain(several, decoding)) for decoding in DECODINGS),
            *_leads(arms, name, lead),
        ]
        for name, several in arms.items()
    ]
    away = [
        [
            name,
            *(_signed(abroad(several, decoding)) for decoding in DECODINGS),
            *_leads(arms, name, lead_abroad),
        ]
        for name, several in arms.items()
        if all(one.others for one in several)
    ]
    whole_columns = ["arm", "sampled", "greedy", "self-play ends higher by, sampled", "greedy "]
    health = [
        [
            *(one.arm, str(one.seed), f"{one.budget.plays:,}"),
            *(_ends(getattr(one.health, name)) for name in HEALTH),
        ]
        for several in arms.values()
        for one in several
    ]
    return [
        ("held-out return of each seed, 95 % intervals over environments", seed_columns, seeds),
        ("all seeds together", whole_columns, whole),
        *([("the same on what the other arms designed late", whole_columns, away)] if away else []),
        (
            "plays trained on; designs of the first and last quarter of the rounds",
            ["arm", "seed", "plays", *HEALTH],
            health,
        ),
    ]


def _leads(arms: Arms, name: str, of: Callable[..., Estimate]) -> list[str]:
    if name == FIRST or FIRST not in arms:
        return ["" for _ in DECODINGS]
    return [_signed(of(arms[FIRST], arms[name], decoding)) for decoding in DECODINGS]


def _markdown(arms: Arms) -> str:
    parts = []
    for title, columns, rows in tables(arms):
        names = [column.strip() for column in columns]
        parts += [f"**{title[0].upper()}{title[1:]}**", ""]
        parts += [f"| {' | '.join(row)} |" for row in (names, ["---"] * len(names), *rows)]
        parts.append("")
    return "\n".join(parts)


def _picture(arms: Arms) -> str:
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
    count = max((len(several) for several in arms.values()), default=0)
    title = f"Mean return on held-out environments, {count} seed{'s' if count != 1 else ''}"
    return picture(title, series, x_label="policy version")


def _signed(value: Estimate) -> str:
    text = estimate_text(value)
    return text if text.startswith("-") else f"+{text}"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _ends(pair: tuple[float | None, float | None]) -> str:
    return " -> ".join("-" if value is None else f"{value:.2f}" for value in pair)
