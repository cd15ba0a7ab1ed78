"""What every page shares: templates that escape whatever they are given, headers, files that come with us.

A page may run our own scripts and nothing else, and neither loads from nor sends to another host. Texts of
environments are hostile: templates escape them, scripts put them into the page as text.
"""

import gzip
import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from starlette.responses import HTMLResponse, Response

from envgen.service.pages import words
from spadekit.errors import BadInput

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' 'sha256-{b64encode(hashlib.sha256(b'').digest()).decode()}'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""No inline script, no `eval`, nothing from elsewhere, and no inline style but an empty element: that is what
Plotly makes and then fills through the object model, which no text of a page can."""
FOLDER = Path(__file__).parent
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
LONGEST_TEXT = 12_000
"""Characters of one text that a page shows; the API has the whole of it."""


@dataclass(frozen=True)
class Asset:
    """One static file, also packed; its address changes with its content."""

    body: bytes
    packed: bytes
    media: str
    tag: str


@cache
def asset(name: str) -> Asset | None:
    """Return a static file of ours, or of a package that brings one; None for any other name."""
    if name == "plotly.js":
        found = Path(str(files("plotly"))) / "package_data" / "plotly.min.js"
    else:
        known = {one.name: one for one in (FOLDER / "static").iterdir()}
        if name not in known:
            return None
        found = known[name]
    body = found.read_bytes()
    tag = hashlib.sha256(body).hexdigest()[:10]
    return Asset(body, gzip.compress(body, 6, mtime=0), TYPES[Path(name).suffix], tag)


def address(name: str) -> str:
    """Return the address of a static file."""
    found = asset(name)
    if found is None:
        raise BadInput(f"there is no file {name}")
    return f"/static/{name}?v={found.tag}"


@cache
def plotly_ids() -> tuple[str, ...]:
    """Return the ids of the style elements with text that Plotly would add, unless they are there."""
    found = asset("plotly.js")
    assert found is not None
    text = found.body.decode("utf-8", "replace")
    return tuple(re.findall(r'getElementById\("([0-9a-f]{64})"\)', text))


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """Cut a text that is too long for a page, and say so."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n[{len(text) - longest} more characters: the API has them]"


@cache
def templates() -> jinja2.Environment:
    """Return the templates. Every value is escaped; an unknown name is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        figure=words.figure,
        signed=words.signed,
        share=words.share,
        count=words.count,
        day=words.day,
        plain=words.plain,
        short=shortened,
    )
    made.globals.update(address=address, plotly_ids=plotly_ids, words=words)
    return made


def rendered(template: str, /, **values: Any) -> str:
    """Return a template filled in."""
    return templates().get_template(template).render(**values)


def page(template: str, code: int = 200, /, **values: Any) -> HTMLResponse:
    """Return a page or a part of one, with the headers that every page has."""
    return html(rendered(template, **values), code)


def html(text: str, code: int = 200, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """Return HTML with the headers that every page has. Lone surrogates become ``?``."""
    body = text.encode("utf-8", "replace").decode()
    return HTMLResponse(body, code, {"content-security-policy": POLICY, **(headers or {})})


def static(name: str, packed: bool) -> Response:
    """Return a static file that browsers may keep for good."""
    found = asset(name)
    if found is None:
        return page("problem.jinja", 404, here="", status_code=404, detail="there is no such file")
    headers = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
    if packed:
        headers["content-encoding"] = "gzip"
    return Response(found.packed if packed else found.body, media_type=found.media, headers=headers)
