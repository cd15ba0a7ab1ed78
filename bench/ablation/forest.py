"""Differences and their 95 % intervals, one row each, in columns that share a scale: a forest plot."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bench.charts import COLOURS, LETTER, mark, ticks
from bench.picture import EDGE, TITLE, document
from bench.statistics import Estimate

ROW, GAP, HEAD, FOOT = 18.0, 10.0, 24.0, 24.0
COLUMN, BETWEEN, VALUE = 210.0, 14.0, 60.0
"""Widths: of a column's plot, after it, and of the figure beside it."""


@dataclass(frozen=True)
class Row:
    """One difference for each column. ``whole``: over all that the other rows of its group show apart."""

    name: str
    values: tuple[Estimate, ...]
    whole: bool = False


@dataclass(frozen=True)
class Group:
    """Rows that belong together, and the colour and mark that they share with other pictures."""

    name: str
    colour: int
    rows: tuple[Row, ...]


def forest(
    title: str, groups: Sequence[Group], columns: Sequence[str], note: Sequence[str] = ()
) -> str:
    """Return an SVG document; a difference that is not known leaves its place empty."""
    found = [
        value
        for group in groups
        for row in group.rows
        for one in row.values
        for value in (one.mean, one.low, one.high)
        if value is not None
    ]
    levels = ticks(min([0.0, *found]), max([0.0, *found]), about=4)
    names = max((len(group.name) for group in groups), default=0)
    rows = max((len(row.name) for group in groups for row in group.rows), default=0)
    label = EDGE + LETTER * names + 16  # where the rows' names begin
    first = label + LETTER * rows + 12
    starts = [first + place * (COLUMN + BETWEEN + VALUE) for place in range(len(columns))]
    bottom = TITLE + HEAD + sum(GAP + ROW * len(group.rows) for group in groups)
    parts = [
        _column(name, left, levels, bottom) for name, left in zip(columns, starts, strict=True)
    ]
    top = TITLE + HEAD
    for group in groups:
        top += GAP
        parts.append(_text("key", EDGE, top + ROW / 2 + 4, group.name))
        for row in group.rows:
            middle = top + ROW / 2
            parts.append(_text("whole" if row.whole else "", label, middle + 4, row.name))
            parts += [
                _estimate(group, row, one, _Scale(left, levels[0], levels[-1]), middle)
                for one, left in zip(row.values, starts, strict=True)
            ]
            top += ROW
    width = starts[-1] + COLUMN + BETWEEN + VALUE
    return document(title, Markup("").join(parts), width, bottom + FOOT, note)


@dataclass(frozen=True)
class _Scale:
    """Where values lie in a column."""

    left: float
    low: float
    high: float

    def x(self, value: float) -> float:
        return self.left + COLUMN * (value - self.low) / (self.high - self.low)


def _column(name: str, left: float, levels: Sequence[float], bottom: float) -> Markup:
    """The grid of a column, its name above and its scale below."""
    scale = _Scale(left, levels[0], levels[-1])
    parts = [_text("key", left, TITLE + 14, name)]
    for value in levels:
        x = scale.x(value)
        parts.append(
            Markup(
                '<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{:g}" y2="{:g}"/>'
                '<text x="{:.1f}" y="{:g}" text-anchor="middle">{}</text>'
            ).format(
                "zero" if abs(value) < 1e-12 else "grid",
                *(x, x, TITLE + HEAD, bottom + 4, x, bottom + 18),
                f"{value:+.6g}" if value else "0",
            )
        )
    return Markup("").join(parts)


def _estimate(group: Group, row: Row, one: Estimate, scale: _Scale, middle: float) -> Markup:
    if one.mean is None:
        return Markup("")
    tip = f"{group.name}, {row.name}: {one.mean:+.3f}"
    parts = []
    if one.low is not None and one.high is not None:
        tip += f" ({one.low:.3f} to {one.high:.3f})"
        parts.append(
            Markup('<line class="bar{} s{}" x1="{:.1f}" x2="{:.1f}" y1="{:g}" y2="{:g}"/>').format(
                *(" whole" if row.whole else "", group.colour % COLOURS),
                *(scale.x(one.low), scale.x(one.high), middle, middle),
            )
        )
    parts.append(mark(group.colour, scale.x(one.mean), middle, tip))
    kind = "whole" if row.whole else ""
    parts.append(_text(kind, scale.left + COLUMN + BETWEEN, middle + 4, f"{one.mean:+.3f}"))
    return Markup("").join(parts)


def _text(kind: str, x: float, y: float, text: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(kind, x, y, text)
