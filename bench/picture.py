"""A chart as a file of its own: title, names and colours inside, light and dark, for pages and READMEs."""

from collections.abc import Sequence

from markupsafe import Markup

from bench.charts import HEIGHT, WIDTH, Series, lines

TITLE, LINE, EDGE = 30.0, 16.0, 20.0
"""Heights of the title and of a line of the note, and where both begin, in pixels."""
GROUND = """
svg{--card:#fff;--ink:#22211e;--soft:#66645d}
@media(prefers-color-scheme:dark){svg{--card:#171614;--ink:#ebe8df;--soft:#a9a59a}}
.card{fill:var(--card)}text{fill:var(--soft);font:11px system-ui,sans-serif}
.title{fill:var(--ink);font-size:14px;font-weight:600}
"""
"""What every document has."""
LINES = """
svg{--rule:#e6e3da;--zero:#8f8b80}
.s0{color:#1f6feb}.s1{color:#d1420f}.s2{color:#0b5a24}.s3{color:#6a1fa5}
.s4{color:#b58d17}.s5{color:#9b1257}.s6{color:#78716c}.s7{color:#0c9fc1}
@media(prefers-color-scheme:dark){svg{--rule:#35332e;--zero:#7a766c}
.s0{color:#6ea8ff}.s1{color:#fdc98a}.s2{color:#35b04a}.s3{color:#c06be0}
.s4{color:#b9c21a}.s5{color:#ef9aa8}.s6{color:#8f8b86}.s7{color:#74e9f2}}
.key,.whole{fill:var(--ink);font-size:12px}.whole{font-weight:600}
.grid{stroke:var(--rule)}.zero{stroke:var(--zero)}
.line{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}
.dot{fill:currentColor;stroke:currentColor;stroke-width:1}.hollow{fill:var(--card);stroke-width:1.6}
.band{fill:currentColor;opacity:.16}.bar{stroke:currentColor;stroke-width:1.4;opacity:.5}
.bar.whole{stroke-width:3;opacity:.75}
"""
"""Any two colours are told apart with all three kinds of colour blindness (at least 0.06 in Oklab), and
each stands out from the ground by at least 3 to 1."""


def picture(title: str, series: Sequence[Series], *, x_label: str, note: Sequence[str] = ()) -> str:
    """Return an SVG document with one line per series, its interval and its name; below, lines of ``note``."""
    chart = lines(title, series, x_label=x_label)
    head = f'<svg y="{TITLE:g}" width="{WIDTH:g}" height="{HEIGHT:g}" '
    placed = Markup(str(chart).replace("<svg ", head, 1))
    return document(title, placed, WIDTH, TITLE + HEIGHT, note)


def document(
    title: str,
    body: Markup,
    width: float,
    height: float,
    note: Sequence[str],
    style: str = LINES,
) -> str:
    """Return an SVG document with a title above the body, which ends at ``height``, and a note below.

    ``style`` is the CSS of what the body draws.
    """
    below = [
        Markup('<text x="{:g}" y="{:g}">{}</text>').format(EDGE, height + LINE * place, text)
        for place, text in enumerate(note, start=1)
    ]
    whole = height + LINE * len(note) + 12.0
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:g} {:g}" width="{:g}"><style>{}</style>'
        '<rect class="card" width="100%" height="100%" rx="8"/>'
        '<text class="title" x="{:g}" y="20">{}</text>{}{}</svg>\n'
    ).format(width, whole, width, Markup(GROUND + style), EDGE, title, body, Markup("").join(below))
