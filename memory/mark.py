"""``store.json``: what makes a place a store, and says which schema wrote it."""

import json

from memory.faults import explain
from memory.places import Place
from memory.schema import SCHEMA_VERSION
from memory.shards import MALFORMED, json_bytes
from spadekit.errors import BadInput

MARK = "store.json"
UNFINISHED = "copying.json"
"""In a place that is being filled by a copy; the mark comes last and this goes."""


def check(place: Place, create: bool) -> None:
    """Refuse what is no store of this schema; with ``create`` make the mark where there is none.

    Raises ``BadInput`` with the next step.
    """
    mark = place / MARK
    try:
        found = _read(mark)
        if found is None:
            if (place / UNFINISHED).exists():
                raise BadInput(
                    f"{place}: a copy that is not finished; run the same `spadework memory copy` "
                    "again"
                )
            if not create:
                raise BadInput(
                    f"{place}: no store here; `spadework generate` makes one, --home or memory.uri "
                    "names another place"
                )
            mark.create(json_bytes({"schema": SCHEMA_VERSION}))
            found = SCHEMA_VERSION
        newer = found > SCHEMA_VERSION
    except OSError as error:
        raise BadInput(explain(error, str(place))) from None
    except (*MALFORMED, OverflowError):  # `int` of what JSON calls 1e999
        raise BadInput(f"{mark}: not a store's mark; restore it from a copy") from None
    if newer:
        raise BadInput(f"{place}: written by a newer version (schema {found}); upgrade spadework")


def _read(mark: Place) -> int | None:
    """Return the schema of a store, None where there is no store."""
    try:
        return int(json.loads(mark.read())["schema"])
    except FileNotFoundError:
        return None
