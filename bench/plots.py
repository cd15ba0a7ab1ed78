"""Charts for a page: HTML and SVG that fit any width, without script, fonts or files from elsewhere.

Lines lie in a stretched SVG whose strokes keep their width, text is HTML around it, so both are as readable
on a telephone as on a desk. Every place of the x axis is a radio button that shows its figures when it is
pointed at, tapped or reached: a chart is one stop of the tab key, the arrow keys go through its places.

Every text is escaped. Colours are the classes ``s0`` to ``s5`` and the shades ``h1`` to ``h6``, so that a
page can give them light and dark values.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median_low

from markupsafe import Markup

from bench.charts import Point, runs, ticks
from bench.thinning import binned, neighbours, some, thinned

COLOURS = 6
"""What `page.html.jinja` has."""
SIDE = 1000
"""Width and height of the drawing, in its own units."""
BARS_UP_TO = 12
"""Up to this many points an interval is an error bar, beyond it is a band."""
DOTS_UP_TO = 60
MOST_PLACES = 60
"""At most so many places of the x axis show their figures; of longer bars and cells each is a mean."""
MOST_POINTS = 120
"""Of a longer line each point is the mean of several."""
SHADES = 6
X_TICKS = 7
APART = 9
"""Between two lines whose error bars stand at the same place."""
STEPS = (1, 2, 5)
"""Labels of the x axis are multiples of these, times a power of ten."""


@dataclass(frozen=True)
class Line:
    """A named line. Of one colour several can be told apart by their dashes."""

    name: str
    points: tuple[Point, ...]
    colour: int
    dashed: bool = False

    @property
    def known(self) -> list[Point]:
        """The points that are no gaps."""
        return [point for point in self.points if point.y is not None]


@dataclass(frozen=True)
class _Frame:
    """Where data coordinates lie in the drawing; x is a place's share of the width."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def share(self, x: float) -> float:
        return (x - self.x_low) / (self.x_high - self.x_low)

    def x(self, value: float) -> int:
        return round(SIDE * self.share(value))

    def height(self, value: float) -> float:
        inside = min(self.y_high, max(self.y_low, value))
        return (inside - self.y_low) / (self.y_high - self.y_low)

    def y(self, value: float) -> int:
        return round(SIDE * (1 - self.height(value)))


class Plots:
    """Draws the charts of one page; it numbers them, for the names of their radio buttons."""

    def __init__(self) -> None:
        self._number = itertools.count(1)

    def lines(
        self,
        title: str,
        lines: Sequence[Line],
        *,
        x_label: str,
        y_range: tuple[float, float] | None = None,
        note: str = "",
    ) -> Markup:
        """Return a figure with the lines that have points, and their intervals; "" when none has."""
        shown = [_shown(one) for one in lines if one.known]
        if not shown:
            return Markup("")
        size = max(neighbours(one.points, MOST_POINTS) for one in lines)
        note = (note + _meant("point", size)).strip()
        xs = sorted({point.x for one in shown for point in one.points})
        frame = _frame(xs, y_range or _range(shown))
        parts = [_grid(frame)]
        for place, one in enumerate(shown):
            parts += _drawn(one, frame, place - (len(shown) - 1) / 2)
        tips = {
            x: [
                (one.colour, one.name, _told(point))
                for one in shown
                for point in one.known
                if point.x == x
            ]
            for x in xs
        }
        keys = [(one.colour, one.dashed, one.name, _value(one.known[-1].y)) for one in shown]
        return self._figure(
            title, keys, _y_axis(frame), parts, frame, tips, x_label, note, _summary(shown)
        )

    def stacked(
        self,
        title: str,
        xs: Sequence[float],
        parts: Mapping[str, Sequence[float]],
        *,
        x_label: str,
        unit: str,
        note: str = "",
    ) -> Markup:
        """Return a figure with one bar for each ``xs``, its parts (at least 0) on top of each other.

        Parts that are 0 everywhere are left out; "" when all are.
        """
        note = (note + _meant("bar", neighbours(xs, MOST_PLACES))).strip()
        xs, parts = binned(xs, {name: row for name, row in parts.items() if any(row)}, MOST_PLACES)
        if not parts:
            return Markup("")
        totals = [math.fsum(row[index] for row in parts.values()) for index in range(len(xs))]
        frame = _frame(xs, (0.0, ticks(0.0, max(totals))[-1]))
        width = 0.8 * _step(xs)
        drawn = [_grid(frame)]
        base = [0.0] * len(xs)
        for colour, row in enumerate(parts.values()):
            path = ""
            for place, value in enumerate(row):
                if value > 0:
                    left, right = frame.x(xs[place] - width / 2), frame.x(xs[place] + width / 2)
                    low, high = frame.y(base[place]), frame.y(base[place] + value)
                    path += f"M{left} {low}H{right}V{high}H{left}z"
                base[place] += value
            drawn.append(Markup('<path class="fill s{}" d="{}"/>').format(colour % COLOURS, path))
        tips = {
            x: [
                (colour, name, Markup("<b>{} {}</b>").format(_value(row[place]), unit))
                for colour, (name, row) in enumerate(parts.items())
            ]
            for place, x in enumerate(xs)
        }
        keys = [(colour, False, name, "") for colour, name in enumerate(parts)]
        summary = f"Last: {', '.join(f'{n} {_value(r[-1])} {unit}' for n, r in parts.items())}"
        return self._figure(title, keys, _y_axis(frame), drawn, frame, tips, x_label, note, summary)

    def heat(
        self,
        title: str,
        xs: Sequence[float],
        rows: Mapping[str, Sequence[float]],
        *,
        x_label: str,
        note: str = "",
        edges: Sequence[float] = (),
        mean: Line | None = None,
    ) -> Markup:
        """Return a figure of cells, darker for larger shares (0 to 1), the first row at the bottom.

        With ``edges`` the rows are bins of a number between them, and ``mean`` is drawn over them.
        """
        note = (note + _meant("column", neighbours(xs, MOST_PLACES))).strip()
        xs, rows = binned(xs, rows, MOST_PLACES)
        if not xs or not any(any(row) for row in rows.values()):
            return Markup("")
        low, high = (edges[0], edges[-1]) if edges else (0.0, float(len(rows)))
        frame = _frame(xs, (low, high))
        width = _step(xs)
        paths = dict.fromkeys(range(1, SHADES + 1), "")
        names = list(rows)
        bounds = list(edges) or [float(index) for index in range(len(rows) + 1)]
        for index, row in enumerate(rows.values()):
            bottom, top = frame.y(bounds[index]), frame.y(bounds[index + 1])
            for place, share in enumerate(row):
                if share > 0:
                    left, right = frame.x(xs[place] - width / 2), frame.x(xs[place] + width / 2)
                    shade = min(SHADES, math.ceil(SHADES * math.sqrt(share)))
                    paths[shade] += f"M{left} {bottom}H{right}V{top}H{left}z"
        drawn = [
            Markup('<path class="fill h{}" d="{}"/>').format(shade, path)
            for shade, path in paths.items()
            if path
        ]
        tips = {
            x: [
                (-1, name, Markup("<b>{:.0f} %</b>").format(100 * rows[name][place]))
                for name in reversed(names)
                if rows[name][place]
            ]
            for place, x in enumerate(xs)
        }
        keys = []
        if mean is not None and mean.known:
            line = _shown(mean)
            drawn += _drawn(line, frame)
            keys = [(line.colour, line.dashed, line.name, _value(line.known[-1].y))]
        if edges:
            labels = _y_axis(frame)
        else:
            labels = [((index + 0.5) / len(rows), name) for index, name in enumerate(names)]
        last = ", ".join(f"{name} {rows[name][-1]:.2f}" for name in names if rows[name][-1])
        return self._figure(
            title, keys, labels, drawn, frame, tips, x_label, note, f"Last: {last}", shades=True
        )

    def _figure(
        self,
        title: str,
        keys: Sequence[tuple[int, bool, str, str]],
        labels: Sequence[tuple[float, str]],
        drawn: Sequence[Markup],
        frame: _Frame,
        tips: Mapping[float, Sequence[tuple[int, str, Markup]]],
        x_label: str,
        note: str,
        summary: str,
        *,
        shades: bool = False,
    ) -> Markup:
        """Put a chart together. ``labels``: (share of the height, text) along the y axis."""
        xs = list(tips)
        x_axis = [
            Markup('<span class="x" style="left:{}%">{:g}</span>').format(
                _percent(frame.share(x)), x
            )
            for x in _labelled(xs)
        ]
        y_axis = [
            Markup('<span class="y" style="bottom:{}%">{}</span>').format(_percent(share), text)
            for share, text in labels
        ]
        return Markup(
            '<figure><figcaption>{}</figcaption>{}<div class="plot{}" role="radiogroup" aria-label="{}">'
            '{}<svg viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>{}{}</div>'
            '<p class="axis">{}</p>{}</figure>'
        ).format(
            title,
            _legend(keys, shades),
            " names" if any(text[:1].isalpha() for _, text in labels) else "",
            f"{title} by {x_label}. {summary}",
            Markup("").join(y_axis),
            *(SIDE, SIDE),
            Markup("").join(drawn),
            Markup("").join(x_axis),
            Markup("").join(self._tips(frame, tips, x_label)),
            x_label,
            Markup('<p class="note">{}</p>').format(note) if note else "",
        )

    def _tips(
        self, frame: _Frame, tips: Mapping[float, Sequence[tuple[int, str, Markup]]], x_label: str
    ) -> Iterator[Markup]:
        """One label for each place of the x axis, with a radio button and what is to be read there."""
        number = next(self._number)
        places = some(list(tips), MOST_PLACES)
        width = _step(places) / (frame.x_high - frame.x_low)
        for x in places:
            rows = Markup("").join(
                Markup("<br>{}{} {}").format(
                    Markup('<i class="s{}"></i>').format(colour % COLOURS) if colour >= 0 else "",
                    name,
                    told,
                )
                for colour, name, told in tips[x]
            )
            share = frame.share(x)
            yield Markup(
                '<label class="at{}" style="left:{}%;width:{}%"><input type="radio" name="p{}">'
                '<span class="tip">{} {:g}{}</span></label>'
            ).format(
                " r" if share > 0.5 else "",
                _percent(share - width / 2),
                _percent(width),
                number,
                x_label,
                x,
                rows,
            )


def _legend(keys: Sequence[tuple[int, bool, str, str]], shades: bool) -> Markup:
    parts = [
        Markup('<span class="key"><i class="s{}{}"></i>{} <b>{}</b></span>').format(
            colour % COLOURS, " dash" if dashed else "", name, last
        )
        for colour, dashed, name, last in keys
    ]
    if shades:
        # Shades go by the root of the share, so that small ones are told apart.
        parts += [
            Markup('<span class="shade"><i class="h{}"></i>{}</span>').format(
                shade, f"{100 * (shade / SHADES) ** 2:.0f}"
            )
            for shade in range(1, SHADES + 1)
        ]
        parts.append(Markup('<span class="shade">% at most</span>'))
    return (
        Markup('<div class="legend">{}</div>').format(Markup("").join(parts))
        if parts
        else Markup("")
    )


def _drawn(line: Line, frame: _Frame, place: float = 0.0) -> list[Markup]:
    """The paths of a line: its interval, the line, broken at gaps, and its dots.

    ``place`` tells lines with error bars apart that would lie on each other.
    """
    colour = line.colour % COLOURS
    few = len(line.known) <= BARS_UP_TO
    aside = place * APART if few and any(point.low is not None for point in line.known) else 0.0
    path = band = whiskers = dots = ""
    for run in runs(line.points):
        places = [f"{round(frame.x(one.x) + aside)} {frame.y(one.y or 0.0)}" for one in run]
        path += "M" + "L".join(places)
        if len(run) == 1 or (len(line.known) <= DOTS_UP_TO and not line.dashed):
            dots += "".join(f"M{place}h0" for place in places)
        wide = [
            (round(frame.x(one.x) + aside), frame.y(one.low), frame.y(one.high))
            for one in run
            if one.low is not None and one.high is not None
        ]
        if few:
            whiskers += "".join(f"M{x} {low}V{high}" for x, low, high in wide)
        elif wide:
            upper = [f"{x} {high}" for x, _, high in wide]
            lower = [f"{x} {low}" for x, low, _ in reversed(wide)]
            band += "M" + "L".join([*upper, *lower]) + "z"
    kinds = (
        ("band", band),
        ("bar", whiskers),
        (
            f"line{' dash' if line.dashed else ''}{' thin' if len(line.known) > DOTS_UP_TO else ''}",
            path,
        ),
        ("dot", dots),
    )
    return [
        Markup('<path class="{} s{}" d="{}"/>').format(kind, colour, d) for kind, d in kinds if d
    ]


def _grid(frame: _Frame) -> Markup:
    """The horizontal lines; that of 0 is darker."""
    levels = ticks(frame.y_low, frame.y_high)
    inside = [value for value in levels if frame.y_low - 1e-9 <= value <= frame.y_high + 1e-9]
    path = "".join(f"M0 {frame.y(value)}H{SIDE}" for value in inside if abs(value) > 1e-12)
    zero = f"M0 {frame.y(0.0)}H{SIDE}" if any(abs(value) <= 1e-12 for value in inside) else ""
    return Markup('<path class="grid" d="{}"/><path class="zero" d="{}"/>').format(path, zero)


def _y_axis(frame: _Frame) -> list[tuple[float, str]]:
    levels = ticks(frame.y_low, frame.y_high)
    return [
        (frame.height(value), _short(value))
        for value in levels
        if frame.y_low - 1e-9 <= value <= frame.y_high + 1e-9
    ]


def _frame(xs: Sequence[float], y_range: tuple[float, float]) -> _Frame:
    room = 0.5 * _step(xs)
    return _Frame(min(xs) - room, max(xs) + room, *y_range)


def _range(lines: Sequence[Line]) -> tuple[float, float]:
    """From 0, or the lowest value where there are negative ones, to a round number above the highest."""
    values = [
        value
        for one in lines
        for point in one.known
        for value in (point.y, point.low, point.high)
        if value is not None
    ]
    if not any(values):
        return 0.0, 1.0
    found = ticks(min(0.0, *values), max(0.0, *values))
    return found[0], found[-1]


def _step(xs: Sequence[float]) -> float:
    """How far two places mostly are apart, 1 of a single one."""
    ordered = sorted(set(xs))
    return median_low([b - a for a, b in itertools.pairwise(ordered)] or [1.0])


def _labelled(xs: Sequence[float]) -> list[float]:
    """What stands along the x axis: the places where they are few, else round numbers between them."""
    if len(xs) <= X_TICKS:
        return list(xs)
    low, high = min(xs), max(xs)
    step = next(
        step * 10**power
        for power in itertools.count()
        for step in STEPS
        if (high - low) / (step * 10**power) <= X_TICKS - 1
    )
    return [float(x) for x in range(step * math.ceil(low / step), math.floor(high) + 1, step)]


def _shown(line: Line) -> Line:
    return replace(line, points=thinned(line.points, MOST_POINTS))


def _meant(what: str, size: int) -> str:
    return f" Each {what} is the mean of {size}." if size > 1 else ""


def _told(point: Point) -> Markup:
    told = Markup("<b>{}</b>").format(_value(point.y))
    if point.low is None or point.high is None:
        return told
    between = f"{_value(point.low)} to {_value(point.high)}"
    return told + Markup(" <span>{}</span>").format(between)


def _summary(lines: Sequence[Line]) -> str:
    """What a reader who sees no picture is told."""
    return "; ".join(
        f"{one.name}: {_value(one.known[0].y)} at first, {_value(one.known[-1].y)} at last, "
        f"{_value(min(point.y or 0.0 for point in one.known))} to "
        f"{_value(max(point.y or 0.0 for point in one.known))}"
        for one in lines
    )


def _value(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _short(value: float) -> str:
    """A label of the y axis: ``20k`` for 20,000."""
    if abs(value) < 10_000:
        return f"{value:.6g}"
    return f"{value / 1e3:.6g}k" if abs(value) < 1e6 else f"{value / 1e6:.6g}M"


def _percent(share: float) -> str:
    return f"{100 * share:.4g}"
