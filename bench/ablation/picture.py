"""A chart as a file of its own: title, legend and colours inside, light and dark, for pages and READMEs."""

from collections.abc import Sequence

from markupsafe import Markup

from bench.charts import COLOURS, HEIGHT, LEFT, WIDTH, Series, lines

TITLE, ROW = 26.0, 18.0
STYLE = """
svg{--ink:#22211e;--soft:#6a6861;--rule:#e2dfd6;--zero:#b3afa3}
.s0{color:#1f6feb}.s1{color:#d1600f}.s2{color:#2a8a4a}.s3{color:#9a4fc4}.s4{color:#b8860b}.s5{color:#c2345f}
@media(prefers-color-scheme:dark){svg{--ink:#ebe8df;--soft:#a5a196;--rule:#37352f;--zero:#66625a}
.s0{color:#6ea8ff}.s1{color:#ff9d52}.s2{color:#62c983}.s3{color:#c995ea}.s4{color:#e3bb4b}.s5{color:#f0809f}}
text{fill:var(--soft);font:11px system-ui,sans-serif}.title{fill:var(--ink);font-size:14px;font-weight:600}
.key{fill:var(--ink);font-size:12px}.grid{stroke:var(--rule)}.zero{stroke:var(--zero)}
.line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}.dot,.fill{fill:currentColor}
.band{fill:currentColor;opacity:.16}.bar{stroke:currentColor;stroke-width:1.5;opacity:.6}
"""


def picture(title: str, series: Sequence[Series], *, x_label: str) -> str:
    """Return an SVG document with one line per series, its intervals, and the names beside them."""
    figure = str(lines(title, series, x_label=x_label))
    chart = figure[figure.index("<svg") : figure.index("</svg>") + len("</svg>")]
    top = TITLE + ROW * len(series)
    keys = Markup("").join(
        Markup(
            '<rect class="fill s{}" x="{:g}" y="{:g}" width="10" height="10" rx="2"/>'
            '<text class="key" x="{:g}" y="{:g}">{}</text>'
        ).format(
            *(index % COLOURS, LEFT, TITLE + ROW * index),
            *(LEFT + 16, TITLE + ROW * index + 9, one.name),
        )
        for index, one in enumerate(series)
    )
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:g} {:g}" width="{:g}"><style>{}</style>'
        '<text class="title" x="{:g}" y="16">{}</text>{}{}</svg>\n'
    ).format(
        *(WIDTH, HEIGHT + top, WIDTH, Markup(STYLE), LEFT, title, keys),
        Markup(
            chart.replace("<svg ", f'<svg y="{top:g}" width="{WIDTH:g}" height="{HEIGHT:g}" ', 1)
        ),
    )
