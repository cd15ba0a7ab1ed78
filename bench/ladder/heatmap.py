"""The table of returns as a picture of its own: policy versions down, shards across, light and dark."""

from collections.abc import Sequence

from markupsafe import Markup

from bench.picture import TITLE, document
from bench.statistics import Estimate

CELL, LEFT, TOP, BOTTOM = 30.0, 64.0, TITLE + 6.0, 24.0
NOTE = "rows: versions; columns: shards; framed: who designed it; dashed: no return"
WRITTEN = 24
"""Up to this many versions and shards the return stands in each cell."""
STYLE = """
svg{--cell:#1f6feb}@media(prefers-color-scheme:dark){svg{--cell:#4f8df0}}
.cell{fill:var(--cell)}.value{fill:var(--ink);font-size:10px;text-anchor:middle}
.own{fill:none;stroke:var(--ink);stroke-width:1.5}.none{fill:none;stroke:var(--soft);stroke-dasharray:2 2}
"""


def heatmap(
    title: str,
    versions: Sequence[int],
    shards: Sequence[int],
    designers: Sequence[int],
    returns: Sequence[Sequence[Estimate]],
) -> str:
    """Return an SVG document, a cell for each version (row) and shard (column).

    The fuller the colour the higher the return; a frame marks the version that designed the shard, and
    a dashed cell holds no return.
    """
    written = max(len(versions), len(shards)) <= WRITTEN
    size = CELL if written else max(4.0, CELL * WRITTEN / max(len(versions), len(shards)))
    width = max(500.0, LEFT + size * len(shards) + 12)
    height = TOP + size * len(versions) + BOTTOM
    parts = [
        _cell(
            LEFT + size * column,
            TOP + size * row,
            size,
            returns[row][column],
            f"version {version}, shard {shard}",
            written,
            designers[column] == version,
        )
        for row, version in enumerate(versions)
        for column, shard in enumerate(shards)
    ]
    every = max(1, round(14 / size))
    parts += [
        Markup('<text x="{:g}" y="{:.1f}" text-anchor="end">{}</text>').format(
            LEFT - 6, TOP + size * (row + 0.5) + 4, version
        )
        for row, version in enumerate(versions)
        if row % every == 0
    ]
    parts += [
        Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>').format(
            LEFT + size * (column + 0.5), TOP + size * len(versions) + 14, shard
        )
        for column, shard in enumerate(shards)
        if column % every == 0
    ]
    return document(title, Markup("").join(parts), width, height, [NOTE], STYLE)


def _cell(
    x: float, y: float, size: float, value: Estimate, name: str, written: bool, own: bool
) -> Markup:
    side = size - 1
    box = Markup('x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"').format(x, y, side, side)
    if value.mean is None:
        return Markup('<rect class="none" {}><title>{}: no return</title></rect>').format(box, name)
    told = f"{name}: {value.mean:.2f}, {value.n} plays"
    parts = [
        Markup('<rect class="cell" {} fill-opacity="{:.2f}"><title>{}</title></rect>').format(
            box, 0.06 + 0.74 * value.mean, told
        )
    ]
    if written:
        parts.append(
            Markup('<text class="value" x="{:.1f}" y="{:.1f}">{}</text>').format(
                x + side / 2, y + side / 2 + 3.5, f"{value.mean:.2f}".removeprefix("0")
            )
        )
    if own:
        parts.append(Markup('<rect class="own" {}/>').format(box))
    return Markup("").join(parts)
