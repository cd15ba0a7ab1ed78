"""The HTML report of a run: one self-contained page made of stored figures."""

import datetime as dt
import json
import math
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from markupsafe import Markup

from bench.breakdown import funnel, outside, trained_on
from bench.figures import RoundFigures, RunFigures
from bench.report_charts import Charts
from bench.statistics import Estimate
from bench.text import estimate_text, number_text, signed_text
from spadekit.errors import BadInput
from spadekit.files import write_atomic

MOST_ROWS = 60
"""Of a longer table only every so many rows are shown."""


def write_page(figures: RunFigures, path: Path) -> Path:
    """Write the page atomically; ``BadInput`` when its folder cannot be written."""
    try:
        write_atomic(path, render(figures).encode())
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}") from None
    return path


def render(figures: RunFigures) -> str:
    """Return the page as HTML. Titles, skills and settings are text from elsewhere: all escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = Environment(
        loader=PackageLoader("bench", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters.update(
        estimate=estimate_text,
        signed=_signed,
        number=number_text,
        percent=_percent,
        shown=_shown,
        pretty=lambda value: _shown(json.dumps(value, indent=2, ensure_ascii=False, default=str)),
    )
    parts = _funnels(figures.rounds)
    return pages.get_template("page.html.jinja").render(
        figures=figures,
        seed=figures.settings.get("seed"),
        made=dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=version("spadework"),
        tiles=_tiles(figures),
        charts=Charts(figures),
        verdict=_verdict(figures),
        ends=[str(one.version) for one in (*figures.heldout[:1], *figures.heldout[1:][-1:])],
        funnels=parts,
        stages=list(parts[0]["rows"]),
        versions_table=versions_table(figures),
        rounds_table=_shortened(rounds_table(figures)),
        training_table=_shortened(training_table(figures)),
    )


def rounds_table(
    figures: RunFigures, show: Callable[[Estimate], str] = estimate_text
) -> dict[str, Any]:
    """Return the figures of every round as columns and rows of text."""
    training = trained_on(figures.training)
    columns = (
        *("round", "version", "designs", "valid", "admitted", "unhinted", "hinted", "regret"),
        *("learnable", "reward", "Vendi / n", "plays", "faulted", "tokens", "seconds", "outside"),
    )
    rows = [
        (
            str(one.round),
            str(one.policy_version),
            str(one.designs),
            _percent(one.valid),
            str(one.admitted),
            show(one.return_unhinted),
            show(one.return_hinted),
            show(one.regret),
            _percent(one.learnable),
            number_text(one.designer_reward),
            number_text(one.vendi_share),
            str(one.plays),
            str(one.faulted_plays),
            f"{one.tokens:,}",
            number_text(one.seconds.get("total"), 1),
            _percent(outside(one, training.get(one.round, ()))),
        )
        for one in figures.rounds
    ]
    return {"columns": columns, "rows": rows}


def versions_table(figures: RunFigures) -> dict[str, Any]:
    """Return where every policy version of the run is from, and what it was used for."""
    columns = (
        *("version", "from", "trained on shard", "environments", "replayed", "plays", "designs"),
        *("return", "reward", "seconds", "designed rounds", "held-out", "weights", "settings"),
    )
    metrics = {one.version: one.metrics for one in figures.training}
    heldout = {one.version: one.sampled for one in figures.heldout}
    rows = []
    for one in figures.versions:
        known = metrics.get(one.version, {})
        judged = heldout.get(one.version)
        rows.append(
            (
                str(one.version),
                "-" if one.parent is None else str(one.parent),
                "-" if one.shard is None else str(one.shard),
                *(
                    number_text(known.get(name), 0)
                    for name in (
                        *("train/environments", "train/replayed", "solver/plays"),
                        "designer/samples",
                    )
                ),
                number_text(known.get("solver/return")),
                number_text(known.get("designer/reward")),
                number_text(known.get("train/seconds/total"), 1),
                _spans(one.rounds),
                estimate_text(judged) if judged else "-",
                one.weights[:8],
                one.settings[:8] or "-",
            )
        )
    return _shortened({"columns": columns, "rows": rows})


def training_table(figures: RunFigures) -> dict[str, Any]:
    """Return the training metrics of every version of the run as columns and rows of text."""
    known = dict.fromkeys(name for one in figures.training for name in one.metrics)
    rows = [
        (str(one.version), *(number_text(one.metrics.get(name), 4) for name in known))
        for one in figures.training
    ]
    return {"columns": ("version", *known), "rows": rows}


def _tiles(figures: RunFigures) -> list[dict[str, str]]:
    """The figures to see first: the whole run's, and what the held-out set says."""
    rounds, last_round = figures.rounds, figures.rounds[-1]
    training = trained_on(figures.training)
    designs = sum(one.designs for one in rounds)
    valid = sum(one.admitted + one.duplicates for one in rounds)
    shares = [outside(one, training.get(one.round, ())) for one in rounds]
    steps = [one.metrics.get("train/seconds/total") for one in figures.training]
    tiles = [
        ("valid designs", _percent(valid / designs if designs else None), f"of {designs:,}"),
        ("environments admitted", f"{sum(one.admitted for one in rounds):,}", "certified and new"),
        ("regret, last round", number_text(last_round.regret.mean), _interval(last_round.regret)),
        ("learnable, last round", _percent(last_round.learnable), "of its new environments"),
        ("a round takes", _seconds([one.seconds.get("total") for one in rounds]), "mean"),
        ("a training step takes", _seconds(steps), "mean"),
        ("outside the policy's passes", _percent(_mean(shares)), "of the time, mean of rounds"),
    ]
    if figures.heldout:
        last = figures.heldout[-1]
        tiles.insert(
            0,
            (
                f"held-out return, version {last.version}",
                number_text(last.sampled.mean),
                _interval(last.sampled),
            ),
        )
    if figures.change:
        tiles.insert(
            1,
            (
                "held-out change, first to last",
                _signed_number(figures.change["sampled"].mean),
                _interval(figures.change["sampled"]),
            ),
        )
        tiles.insert(
            2,
            (
                "the same, greedy",
                _signed_number(figures.change["greedy"].mean),
                _interval(figures.change["greedy"]),
            ),
        )
    return [{"name": name, "value": value, "note": note} for name, value, note in tiles]


def _funnels(rounds: Sequence[RoundFigures]) -> list[dict[str, Any]]:
    """The whole run, and its first and last quarter when there are enough rounds to compare."""
    spans = [("all rounds", rounds)]
    quarter = len(rounds) // 4
    if quarter >= 1:
        names = [
            f"{one[0].round} to {one[-1].round}" for one in (rounds[:quarter], rounds[-quarter:])
        ]
        spans += [
            (f"rounds {names[0]}", rounds[:quarter]),
            (f"rounds {names[1]}", rounds[-quarter:]),
        ]
    stages = [stage for stage, _, _ in funnel(rounds)]
    parts = []
    for name, span in spans:
        designs = left = sum(one.designs for one in span)
        stopped = {stage: count for stage, count, _ in funnel(span)}
        rows = {"designed": {"stopped": "", "left": designs, "share": 1.0 if designs else None}}
        for stage in stages:
            left -= stopped.get(stage, 0)
            rows[stage] = {
                "stopped": stopped.get(stage, 0),
                "left": left,
                "share": left / designs if designs else None,
            }
        parts.append({"name": name, "rows": rows})
    return parts


def _verdict(figures: RunFigures) -> str:
    """Say what the paired differences show, and no more than that."""
    sentences = []
    names = {"sampled": "At the training temperature", "greedy": "Greedy"}
    for decoding, name in names.items():
        found = figures.change.get(decoding)
        if found is None or found.low is None or found.high is None:
            continue
        if found.low > 0:
            said = "the last version scores higher than the first: the interval lies above 0."
        elif found.high < 0:
            said = "the last version scores lower than the first: the interval lies below 0."
        else:
            said = "no change is shown: the interval holds 0."
        sentences.append(f"{name}, {said}")
    return " ".join(sentences)


def _shortened(table: dict[str, Any]) -> dict[str, Any]:
    """Leave out rows of a long run, evenly; its first and last remain. ``every``: how many stand for one."""
    rows = table["rows"]
    every = math.ceil(len(rows) / MOST_ROWS)
    kept = rows if every <= 1 else [*rows[:1], *rows[1:][::-1][::every][::-1]]
    return {**table, "rows": kept, "every": every}


def _spans(numbers: Sequence[int]) -> str:
    """Return numbers in order as text: ``3, 5 to 8``."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ", ".join(" to ".join(map(str, span)) for span in spans) or "-"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _seconds(values: Sequence[float | None]) -> str:
    mean = _mean(values)
    return "-" if mean is None else f"{mean:.1f} s"


def _interval(value: Estimate) -> str:
    if value.low is None or value.high is None:
        return f"{value.clusters} environments"
    return f"95 %: {value.low:.3f} to {value.high:.3f}"


def _signed(value: Estimate) -> Markup:
    kind = "up" if (value.low or 0.0) > 0 else "down" if (value.high or 0.0) < 0 else ""
    return Markup('<span class="{}">{}</span>').format(kind, signed_text(value))


def _signed_number(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _shown(text: str) -> str:
    """Show control and direction characters of hostile text instead of obeying them."""
    return "".join(
        char if char in "\n\t" or char.isprintable() else f"\\u{ord(char):04x}" for char in text
    )
