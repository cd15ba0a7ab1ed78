"""Line charts as SVG of a fixed size, for pictures that are files of their own; see ``bench.plots`` for
those of a page.

Every text is escaped. Colours are the CSS classes ``s0`` to ``s5``, so that a page can give them
light and dark values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

WIDTH, HEIGHT = 560.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 12.0, 12.0, 34.0
COLOURS = 6
BARS_UP_TO = 12
"""Up to this many points an interval is an error bar, beyond it is a band."""


@dataclass(frozen=True)
class Point:
    """One value at ``x`` with its interval, if it has one; ``y`` None is a gap."""

    x: float
    y: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """A named line."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class _Frame:
    """Where data coordinates lie in the picture."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def x(self, value: float) -> float:
        share = (value - self.x_low) / (self.x_high - self.x_low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        inside = min(self.y_high, max(self.y_low, value))
        share = (inside - self.y_low) / (self.y_high - self.y_low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def lines(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str,
    y_range: tuple[float, float] | None = None,
    note: str = "",
) -> Markup:
    """Return a figure with one line per series and its intervals; without data it says so."""
    shown = [one for one in series if any(point.y is not None for point in one.points)]
    if not shown:
        return _figure(title, Markup('<p class="nothing">Nothing measured.</p>'), [], note)
    frame = _frame(shown, y_range)
    xs = sorted({point.x for one in shown for point in one.points})
    parts = [_axes(frame, _whole_ticks(xs), x_label)]
    spread = 0.0 if len(shown) < 2 else min(4.0, 60.0 / len(xs))
    for index, one in enumerate(shown):
        shift = (index - (len(shown) - 1) / 2) * spread
        parts.append(_line(frame, one, index, x_label, shift))
    label = f"{title}: {', '.join(one.name for one in shown)} by {x_label}"
    return _figure(title, _svg(label, parts), [one.name for one in shown], note)


def _figure(title: str, body: Markup, names: Sequence[str], note: str) -> Markup:
    keys = Markup("").join(
        Markup('<span class="key"><i class="s{}"></i>{}</span>').format(index % COLOURS, name)
        for index, name in enumerate(names)
    )
    legend = Markup('<div class="legend">{}</div>').format(keys) if len(names) > 1 else ""
    below = Markup('<p class="note">{}</p>').format(note) if note else ""
    return Markup("<figure><figcaption>{}</figcaption>{}{}{}</figure>").format(
        title, legend, body, below
    )


def _svg(label: str, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, label, Markup("").join(parts)
    )


def _frame(series: Sequence[Series], y_range: tuple[float, float] | None) -> _Frame:
    points = [point for one in series for point in one.points if point.y is not None]
    x_low, x_high = min(point.x for point in points), max(point.x for point in points)
    room = max(0.5, 0.02 * (x_high - x_low))
    if y_range is None:
        values = [
            value
            for point in points
            for value in (point.y, point.low, point.high)
            if value is not None
        ]
        levels = ticks(min(values), max(values))
        y_range = levels[0], levels[-1]
    return _Frame(x_low - room, x_high + room, *y_range)


def _axes(frame: _Frame, x_ticks: Sequence[float], x_label: str) -> Markup:
    parts = []
    for value in ticks(frame.y_low, frame.y_high):
        if not frame.y_low - 1e-9 <= value <= frame.y_high + 1e-9:
            continue
        y = _round(frame.y(value))
        kind = "zero" if abs(value) < 1e-12 else "grid"
        parts.append(
            Markup(
                '<line class="{}" x1="{:g}" x2="{:g}" y1="{}" y2="{}"/>'
                '<text class="tick" x="{:g}" y="{}" text-anchor="end">{}</text>'
            ).format(kind, LEFT, WIDTH - RIGHT, y, y, LEFT - 6, _round(float(y) + 4), _short(value))
        )
    for value in x_ticks:
        parts.append(
            Markup('<text class="tick" x="{}" y="{:g}" text-anchor="middle">{:g}</text>').format(
                _round(frame.x(value)), HEIGHT - BOTTOM + 15, value
            )
        )
    parts.append(
        Markup('<text class="axis" x="{:g}" y="{:g}" text-anchor="middle">{}</text>').format(
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 3, x_label
        )
    )
    return Markup("").join(parts)


def _line(frame: _Frame, series: Series, index: int, x_label: str, shift: float) -> Markup:
    colour = index % COLOURS
    known = [point for point in series.points if point.y is not None]
    bars = len(known) <= BARS_UP_TO
    shift = shift if bars else 0.0
    parts = []
    for run in runs(series.points):
        if not bars:
            parts.append(_band(frame, run, colour))
        path = " ".join(
            f"{_round(frame.x(point.x) + shift)},{_round(frame.y(point.y or 0.0))}" for point in run
        )
        parts.append(Markup('<polyline class="line s{}" points="{}"/>').format(colour, path))
    for point in known:
        assert point.y is not None
        tip = f"{series.name}, {x_label} {point.x:g}: {point.y:.3f}"
        x = _round(frame.x(point.x) + shift)
        if point.low is not None and point.high is not None:
            tip += f" ({point.low:.3f} to {point.high:.3f})"
            if bars:
                parts.append(
                    Markup('<line class="bar s{}" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
                        colour, x, x, _round(frame.y(point.low)), _round(frame.y(point.high))
                    )
                )
        parts.append(
            Markup('<circle class="dot s{}" cx="{}" cy="{}" r="3">{}</circle>').format(
                colour, x, _round(frame.y(point.y)), Markup("<title>{}</title>").format(tip)
            )
        )
    return Markup("").join(parts)


def _band(frame: _Frame, run: Sequence[Point], colour: int) -> Markup:
    with_interval = [point for point in run if point.low is not None and point.high is not None]
    upper = [(point.x, point.high or 0.0) for point in with_interval]
    lower = [(point.x, point.low or 0.0) for point in reversed(with_interval)]
    corners = " ".join(f"{_round(frame.x(x))},{_round(frame.y(y))}" for x, y in [*upper, *lower])
    return Markup('<polygon class="band s{}" points="{}"/>').format(colour, corners)


def runs(points: Sequence[Point]) -> list[list[Point]]:
    """Split at gaps."""
    found: list[list[Point]] = [[]]
    for point in points:
        if point.y is None:
            found.append([])
        else:
            found[-1].append(point)
    return [run for run in found if run]


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers from at or below ``low`` to at or above ``high``."""
    if high - low < 1e-9:
        room = max(abs(low) * 0.1, 0.05)
        low, high = low - room, high + room
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def _whole_ticks(xs: Sequence[float], at_most: int = 11) -> list[float]:
    ordered = sorted(set(xs))
    step = math.ceil(len(ordered) / at_most)
    return ordered[::step]


def _short(value: float) -> str:
    return f"{value:.6g}"


def _round(value: float) -> str:
    return f"{value:.1f}"
