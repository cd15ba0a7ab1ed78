"""Tell what came out: tables in the terminal, and files to keep: JSON, Markdown and two pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.charts import Point, Series
from bench.ladder.heatmap import heatmap
from bench.ladder.outcome import Outcome
from bench.ladder.ratings import Span
from bench.picture import picture
from bench.statistics import Estimate
from bench.text import estimate_text
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.files import write_atomic, write_json

Table = tuple[str, list[str], list[list[str]]]
SCALE = (
    "Ratings and difficulties are logits on one scale: a version wins half of its plays on an environment as "
    "difficult as its rating, and one logit more multiplies the odds by 2.7. The first version is rated 0. A "
    "slope's interval says how well these ratings are known, not how another run would go."
)
FIXED = "95 % intervals; the first version is rated 0, the unit is the logit"


def write(found: Outcome, head: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write ``ladder.json``, ``ladder.md``, ``ratings.svg`` and ``returns.svg``; return their paths.

    ``head``: how, on what and when it was measured. Raises ``BadInput`` where it cannot be written.
    """
    paths = [folder / name for name in ("ladder.json", "ladder.md", "ratings.svg", "returns.svg")]
    try:
        write_json(paths[0], {**head, **record(found)})
        write_atomic(paths[1], markdown(found, head).encode())
        write_atomic(paths[2], _ratings(found).encode())
        write_atomic(paths[3], _returns(found).encode())
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror or error}") from None
    return paths


def record(found: Outcome) -> dict[str, Any]:
    """Return the figures as plain data."""
    return {"verdict": found.verdict, **asdict(found)}


def show(session: Session, found: Outcome) -> None:
    """Print the tables and the verdict."""
    for title, columns, rows in tables(found):
        session.report.table(title, columns, rows)
    session.report.text(f"{found.verdict[0].upper()}{found.verdict[1:]}.")


def tables(found: Outcome) -> list[Table]:
    """Return (title, columns, rows): the versions, the shards, and what is said of all of them."""
    versions = [
        [str(one.version), _or_dash(one.trained_on), _span(one.rating), str(one.plays)]
        for one in found.rungs
    ]
    shards = [
        [
            *(str(one.shard), str(one.designer), _span(one.difficulty), _span(one.ahead)),
            *(estimate_text(one.learnable), estimate_text(one.learned), estimate_text(one.kept)),
            str(one.plays),
        ]
        for one in found.steps
    ]
    whole = [
        ["rise of the versions, logits a version", _span(found.versions)],
        ["rise of the shards, logits a shard", _span(found.shards)],
        ["rise of the shards' lead over their designers, logits a shard", _span(found.ahead)],
        ["learned: return after training on a shard less before", _change(found.learned)],
        ["kept: return of the last version less just after training", _change(found.kept)],
        ["spread of a shard's environments, logits", f"{found.spread:.2f}"],
        ["version-shard pairs that the ratings miss (0.05 expected)", f"{found.odd:.2f}"],
        ["plays, of them faulted", f"{found.plays:,}, {found.faulted:,}"],
    ]
    return [
        (
            f"policy versions; {FIXED}",
            ["version", "trained on shard", "rating", "plays"],
            versions,
        ),
        (
            "shards; ahead: difficulty less the designer's rating; learnable: for the designer then",
            ["shard", "designer", "difficulty", "ahead", "learnable", "learned", "kept", "plays"],
            shards,
        ),
        ("all together", ["figure", "value"], whole),
    ]


def markdown(found: Outcome, head: Mapping[str, Any]) -> str:
    """Return the page: what is said, how it was measured, pictures, tables."""
    parts = ["# Does learning go on?", "", f"{found.verdict[0].upper()}{found.verdict[1:]}.", ""]
    parts += [_method(found, head), "", SCALE, ""]
    parts += ["![Ratings](ratings.svg)", "", "![Returns](returns.svg)", ""]
    for title, columns, rows in tables(found):
        parts += [f"**{title[0].upper()}{title[1:]}**", ""]
        parts += [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *rows)]
        parts.append("")
    return "\n".join(parts)


def _method(found: Outcome, head: Mapping[str, Any]) -> str:
    protocol, settings, about = head["protocol"], head["settings"], head["machine"]
    return (
        f"{len(found.rungs)} policy versions of the run `{head['run']}` on {len(found.steps)} of its shards, "
        f"up to {settings['environments']} environments of each; {found.plays:,} plays without the hint at "
        f"temperature {protocol['temperature']:g}, at least {settings['floor']} of every version on every "
        f"shard. Measured {head['created'][:10]} on {about['processor']}, {about['cores']} cores."
    )


def _ratings(found: Outcome) -> str:
    """Ratings by version number, difficulties by the shard's place in the run."""
    versions = [(float(one.version), one.rating) for one in found.rungs]
    shards = [(float(place), one.difficulty) for place, one in enumerate(found.steps, start=1)]
    return picture(
        "Do versions get better, and their shards harder?",
        [
            Series("ratings of versions", _points(versions)),
            Series("difficulties of shards", _points(shards)),
        ],
        x_label="policy version; round of the shard",
        note=[
            "Logits with 95 % intervals; version 0 is rated 0. Where both are level a version wins half.",
        ],
    )


def _points(spans: Sequence[tuple[float, Span]]) -> tuple[Point, ...]:
    return tuple(Point(x, one.value, one.low, one.high) for x, one in spans)


def _returns(found: Outcome) -> str:
    return heatmap(
        "Mean return without the hint, on the same instances",
        [one.version for one in found.rungs],
        [one.shard for one in found.steps],
        [one.designer for one in found.steps],
        found.returns,
    )


def _span(value: Span | None) -> str:
    if value is None:
        return "-"
    if value.low == value.high:
        return f"{value.value:.2f}"
    return f"{value.value:+.2f} ({value.low:.2f} to {value.high:.2f})"


def _change(value: Estimate) -> str:
    text = estimate_text(value)
    return f"{text}, {value.clusters} environments" if value.clusters else "-"


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)
