"""The table of returns as a picture of its own: policy versions down, shards across, light and dark."""

from collections.abc import Sequence

from markupsafe import Markup

from bench.statistics import Estimate

CELL, LEFT, TOP, BOTTOM = 30.0, 64.0, 54.0, 40.0
WRITTEN = 24
"""Up to this many versions and shards the return stands in each cell."""
STYLE = """
svg{--card:#fff;--ink:#22211e;--soft:#66645d;--cell:#1f6feb}
@media(prefers-color-scheme:dark){svg{--card:#171614;--ink:#ebe8df;--soft:#a9a59a;--cell:#4f8df0}}
.card{fill:var(--card)}
text{fill:var(--soft);font:11px system-ui,sans-serif}.title{fill:var(--ink);font-size:14px;font-weight:600}
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
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:g} {:g}" width="{:g}" role="img" '
        'aria-label="{}"><style>{}</style><rect class="card" width="100%" height="100%" rx="8"/>'
        '<text class="title" x="20" y="20">{}</text>'
        '<text x="20" y="38">rows: versions; columns: shards; framed: who designed it; dashed: no return</text>'
        "{}</svg>\n"
    ).format(width, height, width, title, Markup(STYLE), title, Markup("").join(parts))


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
