"""How large a pool of strangers may be: looked at before anything is downloaded, inflated or kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from spadekit.errors import BadInput

MB = 1_000_000


@dataclass(frozen=True)
class Limits:
    """``source``: most bytes of a program, and characters of a hint; ``pool``: bytes of all files of a pool.

    Tables may inflate to ``INFLATION`` times that, and hold ``ROWS`` rows.
    """

    source: int
    pool: int = 2_000 * MB

    @property
    def inflated(self) -> int:
        """The most bytes of a table's columns."""
        return INFLATION * self.pool


INFLATION = 8
ROWS = 1_000_000
FILES = 5_000
"""Files of a data set on the Hub; its client looks for every one of them in the list of all."""
MANIFEST = 4 * MB
"""Bytes of a release's manifest: some 25,000 files."""
NOTES = 16 * MB
"""Bytes of the notes that lie beside files of source."""
LIST = 256 * MB
"""Bytes of a file that is one JSON list, which has to be read as a whole."""


def check_pool(sizes: Mapping[str, int], limits: Limits, place: str) -> None:
    """Refuse files, by name and bytes (-1 unknown), that are too large together. Raises ``BadInput``."""
    if unknown := [name for name, size in sizes.items() if size < 0]:
        raise BadInput(f"{place}: the Hub does not tell how large {unknown[0][:80]} is")
    if len(sizes) > FILES:
        raise BadInput(
            f"{place}: {len(sizes)} files to fetch, at most {FILES} are; take a table of them"
        )
    total = sum(sizes.values())
    if total > limits.pool:
        largest = max(sizes, key=lambda name: sizes[name])
        raise BadInput(
            f"{place}: {len(sizes)} files of {_mb(total)} MB ({largest[:80]}: {_mb(sizes[largest])} MB); at "
            f"most {_mb(limits.pool)} MB are taken, --most-mb allows more"
        )


def check_table(rows: int, inflated: int, limits: Limits, place: str) -> None:
    """Refuse a table by what it says of itself. Raises ``BadInput``."""
    if not 0 <= rows <= ROWS:
        raise BadInput(f"{place}: {rows} rows; a table has at most {ROWS}")
    if not 0 <= inflated <= limits.inflated:
        raise BadInput(
            f"{place}: inflates to {_mb(inflated)} MB; at most {_mb(limits.inflated)} MB are taken, "
            "--most-mb allows more"
        )


def _mb(size: int) -> str:
    return f"{size / MB:,.1f}"
