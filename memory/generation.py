"""Which folder of a store holds the tables: a rebuild makes new ones aside and then points to them."""

import json
import secrets

from memory.places import Place
from memory.shards import MALFORMED, json_bytes
from spadekit.errors import BadInput

FIRST = "lance"
_POINTER = "tables.json"


def current(root: Place) -> Place:
    """Return where the tables lie. Raises ``BadInput`` for a damaged pointer."""
    pointer = root / _POINTER
    try:
        name = json.loads(pointer.read())["folder"]
    except FileNotFoundError:
        name = FIRST
    except MALFORMED:
        raise BadInput(f"{pointer}: damaged; remove it, then `spadework memory rebuild`") from None
    return root / _checked(str(name), pointer)


def begin() -> str:
    """Return the name of a folder for new tables."""
    return f"{FIRST}-{secrets.token_hex(4)}"


def switch(root: Place, name: str) -> None:
    """Make the tables in folder ``name`` the current ones and remove all others."""
    (root / _POINTER).replace(json_bytes({"folder": name}))
    for other in root.folders():
        if _ours(other) and other != name:
            (root / other).remove()


def _ours(name: str) -> bool:
    return name == FIRST or name.startswith(f"{FIRST}-")


def _checked(name: str, pointer: Place) -> str:
    if not _ours(name) or "/" in name:
        raise BadInput(f"{pointer}: names the folder {name!r}; remove it, then rebuild")
    return name
