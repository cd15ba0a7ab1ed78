"""The pictures of a card, as PNG: the Hub does not show SVG files in a card.

Drawn with Pillow larger and made smaller, which smooths lines and dots. Every picture has a
white ground, so that it can be read in a dark page too.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from memory.standing import FRONTIER_HIGH, FRONTIER_LOW

SCALE = 2
WIDTH, HEIGHT = 640, 320
INK, SOFT, GRID, BAR = "#1f2933", "#52606d", "#e4e7eb", "#3e7cb1"
DOTS = {
    "frontier": "#2f855a",
    "mastered": "#3e7cb1",
    "hopeless": "#c05621",
    "hint_only": "#805ad5",
    "unmeasured": "#9aa5b1",
}
"""The colour of each status of an environment."""
BINS = 12
ROW = 26
LARGEST_DOT = 9.0

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Rows = Sequence[Mapping[str, Any]]


def draw(folder: Path, environments: Rows) -> dict[str, str]:
    """Write the pictures that the rows give; return what each shows by its file's name."""
    made: dict[str, Canvas] = {}
    told: dict[str, str] = {}
    makers: Sequence[tuple[str, str, Callable[[Rows], Canvas | None]]] = (
        ("skills.png", "Environments by skill", _skills),
        ("returns.png", "Return without the hint, and what the hint adds", _returns),
        ("turns.png", "Turns of the reference solution", _turns),
    )
    for name, title, maker in makers:
        canvas = maker(environments)
        if canvas is not None:
            made[name], told[name] = canvas, title
    folder.mkdir()
    for name, canvas in made.items():
        canvas.save(folder / name)
    return told


class Canvas:
    """A picture in points; text is placed by its anchor (Pillow's two letters)."""

    def __init__(self, title: str, height: int = HEIGHT) -> None:
        self.size = (WIDTH, height)
        self._image = Image.new("RGB", (WIDTH * SCALE * 2, height * SCALE * 2), "white")
        self._draw = ImageDraw.Draw(self._image)
        self.text(16, 14, title, INK, 15, "lt")

    def text(
        self, x: float, y: float, text: str, colour: str = SOFT, size: int = 12, anchor: str = "lm"
    ) -> None:
        """Write a text."""
        self._draw.text(
            self._at(x, y), text, fill=colour, font=_font(size * SCALE * 2), anchor=anchor
        )

    def bar(self, left: float, top: float, right: float, bottom: float, colour: str = BAR) -> None:
        """Fill a rectangle."""
        self._draw.rectangle([*self._at(left, top), *self._at(right, bottom)], fill=colour)

    def line(self, x0: float, y0: float, x1: float, y1: float, colour: str = GRID) -> None:
        """Draw a thin line."""
        self._draw.line([*self._at(x0, y0), *self._at(x1, y1)], fill=colour, width=SCALE * 2)

    def dot(self, x: float, y: float, colour: str, radius: float = 3.2) -> None:
        """Draw a dot with a light rim, so that dots on dots can be told apart."""
        for size, fill in ((radius + 0.7, "white"), (radius, colour)):
            box = [*self._at(x - size, y - size), *self._at(x + size, y + size)]
            self._draw.ellipse(box, fill=fill)

    def save(self, path: Path) -> None:
        """Write the picture."""
        width, height = self.size
        smooth = self._image.resize((width * SCALE, height * SCALE), Image.Resampling.BOX)
        smooth.quantize(64, dither=Image.Dither.NONE).save(path)

    @staticmethod
    def _at(x: float, y: float) -> tuple[float, float]:
        return x * SCALE * 2, y * SCALE * 2


def _font(size: int) -> Font:
    return ImageFont.load_default(size)


def _skills(environments: Rows) -> Canvas | None:
    counts = Counter(skill for row in environments for skill in row["skills"])
    if not counts:
        return None
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    canvas = Canvas("Environments by skill", 52 + ROW * len(found))
    most = found[0][1]
    for place, (skill, count) in enumerate(found):
        y = 46 + ROW * place
        canvas.text(196, y + 9, skill.replace("_", " "), INK, 12, "rm")
        right = 206 + (WIDTH - 206 - 60) * count / most
        canvas.bar(206, y, right, y + 18)
        canvas.text(right + 6, y + 9, str(count))
    return canvas


def _returns(environments: Rows) -> Canvas | None:
    known = [row for row in environments if row["regret"] is not None]
    known = [row for row in known if row["return_unhinted"] is not None]
    if not known:
        return None
    canvas = Canvas("Return without the hint, and what the hint adds (regret)", 360)
    low = min(-0.2, *(row["regret"] for row in known))
    left, right, top, bottom = 68, WIDTH - 150, 54, 306

    def x(value: float) -> float:
        return float(left + (right - left) * value)

    def y(value: float) -> float:
        return float(bottom - (bottom - top) * (value - low) / (1.0 - low))

    canvas.bar(x(FRONTIER_LOW), top, x(FRONTIER_HIGH), y(0.0), "#eef6f0")
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        canvas.line(x(tick), top, x(tick), bottom)
        canvas.text(x(tick), bottom + LARGEST_DOT + 8, f"{tick:g}", anchor="mm")
    for tick in (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0):
        if tick >= low:
            canvas.line(left, y(tick), right, y(tick), SOFT if tick == 0.0 else GRID)
            canvas.text(left - LARGEST_DOT - 5, y(tick), f"{tick:g}", anchor="rm")
    places = Counter((row["return_unhinted"], row["regret"], row["status"]) for row in known)
    # Large ones first, so that none hides another.
    for (bare, regret, status), count in sorted(places.items(), key=lambda item: -item[1]):
        radius = min(LARGEST_DOT, 1.2 + 2.0 * math.sqrt(count))
        canvas.dot(x(bare), y(regret), DOTS[status], radius)
    label = "mean return without the hint; larger dots are several environments"
    canvas.text((left + right) / 2, bottom + 42, label, anchor="mm")
    counts = Counter(row["status"] for row in known)
    for place, (status, colour) in enumerate((s, c) for s, c in DOTS.items() if counts[s]):
        canvas.dot(right + 24, top + 12 + 22 * place, colour)
        label = f"{status.replace('_', ' ')} {counts[status]}"
        canvas.text(right + 34, top + 12 + 22 * place, label, INK)
    return canvas


def _turns(environments: Rows) -> Canvas | None:
    known = [row["turns"] for row in environments if row["turns"]]
    if not known:
        return None
    width = max(1, -(-max(known) // BINS))
    counts = Counter((turns - 1) // width for turns in known)
    bins = max(counts) + 1
    canvas = Canvas("Turns of the reference solution (longest of its seeds)", 280)
    left, right, top, bottom = 44, WIDTH - 20, 52, 236
    step = (right - left) / max(bins, 6)
    most = max(counts.values())
    canvas.line(left, bottom, left + step * bins, bottom, SOFT)
    for place in range(bins):
        first, last = place * width + 1, (place + 1) * width
        middle = left + step * (place + 0.5)
        height = (bottom - top) * counts[place] / most
        canvas.bar(middle - step * 0.4, bottom - height, middle + step * 0.4, bottom)
        if counts[place]:
            canvas.text(middle, bottom - height - 9, str(counts[place]), anchor="mm")
        label = str(first) if first == last else f"{first}-{last}"
        canvas.text(middle, bottom + 13, label, anchor="mm")
    canvas.text((left + left + step * bins) / 2, bottom + 33, "turns", anchor="mm")
    return canvas
