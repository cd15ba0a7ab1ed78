"""Line charts as SVG of a fixed size, for pictures that are files of their own; see ``bench.plots`` for
those of a page.

Up to eight lines can be told apart without colour: each has a dash, a mark and its name at its end.
Every text is escaped. Colours are the CSS classes ``s0`` to ``s7``, which ``bench.picture`` gives
light and dark values.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

WIDTH, HEIGHT = 760.0, 300.0
LEFT, TOP, BOTTOM = 46.0, 12.0, 36.0
COLOURS = 8
BARS_UP_TO = 12
"""Up to this many points an interval is an error bar, beyond it is a band."""
MARKS_UP_TO = 60
DASHES = ("none", "7 3", "2 3", "9 3 2 3")
"""By colour, one after another. Colours that are near each other to some eyes have different ones."""
SHAPES = (
    ("", "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z"),
    ("", "m-2.9-2.9h5.8v5.8h-5.8z"),
    ("", "m0-4l3.7 6.3h-7.4z"),
    ("", "m0-4l4 4-4 4-4-4z"),
    ("", "m0 4l3.7-6.3h-7.4z"),
    (" hollow", "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z"),
    (" hollow", "m-2.9-2.9h5.8v5.8h-5.8z"),
    (" hollow", "m0-4l4 4-4 4-4-4z"),
)
"""Mark of each colour: its class beside ``dot``, its path from the place where it stands."""
ROW, SAMPLE, LETTER = 17.0, 26.0, 6.6
"""Of the names: height of a row, width of the piece of line before the name and of a letter, in pixels."""


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

    @property
    def known(self) -> list[Point]:
        """The points that are no gaps."""
        return [point for point in self.points if point.y is not None]


@dataclass(frozen=True)
class _Frame:
    """Where data coordinates lie in the picture; ``right``: where the plot ends and the names begin."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    right: float

    def x(self, value: float) -> float:
        share = (value - self.x_low) / (self.x_high - self.x_low)
        return LEFT + share * (self.right - LEFT)

    def y(self, value: float) -> float:
        share = (value - self.y_low) / (self.y_high - self.y_low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def lines(title: str, series: Sequence[Series], *, x_label: str) -> Markup:
    """Return an SVG element with one line per series, its intervals and its name.

    ``title`` is what a reader who sees no picture is told. Without data the picture says so.
    """
    # a series without points keeps its colour and dash from the others
    shown = [(index, one) for index, one in enumerate(series) if one.known]
    if not shown:
        nothing = Markup('<text class="key" x="{:g}" y="{:g}">Nothing measured.</text>')
        return _svg(title, [nothing.format(LEFT, HEIGHT / 2)])
    frame = _frame([one for _, one in shown])
    xs = sorted({point.x for _, one in shown for point in one.points})
    parts = [_axes(frame, _whole_ticks(xs), x_label)]
    step = min((b - a for a, b in itertools.pairwise(xs)), default=1.0)
    apart = min(5.0, 0.6 * (frame.x(step) - frame.x(0.0)) / len(shown))
    for place, (index, one) in enumerate(shown):
        shift = (place - (len(shown) - 1) / 2) * apart
        parts.append(_line(frame, one, index, x_label, shift))
    parts += _names(frame, shown)
    label = f"{title}: {', '.join(one.name for _, one in shown)} by {x_label}"
    return _svg(label, parts)


def mark(index: int, x: float, y: float, tip: str = "") -> Markup:
    """Return the mark of a colour at a place, ``tip`` when it is pointed at."""
    kind, path = SHAPES[index % COLOURS]
    title = Markup("<title>{}</title>").format(tip) if tip else Markup("")
    return Markup('<path class="dot{} s{}" d="M{:.1f} {:.1f}{}">{}</path>').format(
        kind, index % COLOURS, x, y, path, title
    )


def _svg(label: str, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, label, Markup("").join(parts)
    )


def _frame(series: Sequence[Series]) -> _Frame:
    points = [point for one in series for point in one.known]
    x_low, x_high = min(point.x for point in points), max(point.x for point in points)
    room = max(0.5, 0.04 * (x_high - x_low))
    values = [
        value for point in points for value in (point.y, point.low, point.high) if value is not None
    ]
    levels = ticks(min(values), max(values))
    letters = min(36, max(len(one.name) for one in series))
    right = WIDTH - 2 * SAMPLE - LETTER * letters
    return _Frame(x_low - room, x_high + room, levels[0], levels[-1], right)


def _axes(frame: _Frame, x_ticks: Sequence[float], x_label: str) -> Markup:
    parts = []
    for value in ticks(frame.y_low, frame.y_high):
        if not frame.y_low - 1e-9 <= value <= frame.y_high + 1e-9:
            continue
        y = frame.y(value)
        kind = "zero" if abs(value) < 1e-12 else "grid"
        parts.append(
            Markup(
                '<line class="{}" x1="{:g}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>'
                '<text class="tick" x="{:g}" y="{:.1f}" text-anchor="end">{:.6g}</text>'
            ).format(kind, LEFT, frame.right, y, y, LEFT - 6, y + 4, value)
        )
    for value in x_ticks:
        parts.append(
            Markup(
                '<text class="tick" x="{:.1f}" y="{:g}" text-anchor="middle">{:g}</text>'
            ).format(frame.x(value), HEIGHT - BOTTOM + 16, value)
        )
    parts.append(
        Markup('<text class="axis" x="{:.1f}" y="{:g}" text-anchor="middle">{}</text>').format(
            (LEFT + frame.right) / 2, HEIGHT - 3, x_label
        )
    )
    return Markup("").join(parts)


def _line(frame: _Frame, series: Series, index: int, x_label: str, shift: float) -> Markup:
    colour = index % COLOURS
    bars = len(series.known) <= BARS_UP_TO
    shift = shift if bars else 0.0
    parts = []
    for run in runs(series.points):
        if not bars:
            parts.append(_band(frame, run, colour))
        path = " ".join(
            f"{frame.x(point.x) + shift:.1f},{frame.y(point.y or 0.0):.1f}" for point in run
        )
        parts.append(_stroke(index, path))
    for point in series.known:
        assert point.y is not None
        tip = f"{series.name}, {x_label} {point.x:g}: {point.y:.3f}"
        x = frame.x(point.x) + shift
        if point.low is not None and point.high is not None:
            tip += f" ({point.low:.3f} to {point.high:.3f})"
            if bars:
                parts.append(
                    Markup(
                        '<line class="bar s{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>'
                    ).format(colour, x, x, frame.y(point.low), frame.y(point.high))
                )
        if len(series.known) <= MARKS_UP_TO:
            parts.append(mark(index, x, frame.y(point.y), tip))
    return Markup("").join(parts)


def _stroke(index: int, path: str) -> Markup:
    dash = DASHES[index % len(DASHES)]
    return Markup('<polyline class="line s{}" stroke-dasharray="{}" points="{}"/>').format(
        index % COLOURS, dash, path
    )


def _names(frame: _Frame, shown: Sequence[tuple[int, Series]]) -> list[Markup]:
    """The names in the order in which the lines end, each with a piece of its line."""
    ordered = sorted(shown, key=lambda pair: frame.y(pair[1].known[-1].y or 0.0))
    wanted = [frame.y(one.known[-1].y or 0.0) for _, one in ordered]
    parts = []
    for (index, one), y in zip(ordered, spread(wanted, ROW, TOP, HEIGHT - BOTTOM), strict=True):
        left = frame.right + 0.6 * SAMPLE
        parts += [
            _stroke(index, f"{left:.1f},{y:.1f} {left + SAMPLE:.1f},{y:.1f}"),
            mark(index, left + SAMPLE / 2, y),
            Markup('<text class="key" x="{:.1f}" y="{:.1f}">{}</text>').format(
                left + SAMPLE + 7, y + 4, one.name
            ),
        ]
    return parts


def spread(wanted: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Return places near the ``wanted`` ones, which rise, ``apart`` from each other and, where there is
    room, between ``low`` and ``high``."""
    places: list[float] = []
    for want in wanted:
        places.append(max(want, low, places[-1] + apart if places else low))
    limit = high
    for index in reversed(range(len(places))):
        places[index] = min(places[index], limit)
        limit = places[index] - apart
    return places


def _band(frame: _Frame, run: Sequence[Point], colour: int) -> Markup:
    with_interval = [point for point in run if point.low is not None and point.high is not None]
    upper = [(point.x, point.high or 0.0) for point in with_interval]
    lower = [(point.x, point.low or 0.0) for point in reversed(with_interval)]
    corners = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in [*upper, *lower])
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
