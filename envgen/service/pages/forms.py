"""Forms as browsers send them, read with limits."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request

from spadekit.errors import BadInput

MOST_FIELDS = 200


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form; of one that stands twice the last counts. Raises ``BadInput``."""
    body = await request.body()
    try:
        text = body.decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise BadInput("the form cannot be read") from None


def number(form: Mapping[str, str], name: str, least: int, most: int) -> int:
    """Return a whole number of a form. Raises ``BadInput``."""
    text = form.get(name, "").strip()
    if not text.isdecimal() or not text.isascii() or not least <= int(text[:20]) <= most:
        raise BadInput(f"{name}: give a whole number from {least} to {most}")
    return int(text)
