"""How varied the environments of one shard are, and when that is a reason for alarm."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.embedding import vendi

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

FEW = 8  # fewer environments than this say nothing about a shard's variety


@dataclass(frozen=True)
class Variety:
    """Of one shard's environments: Vendi score / n, and distances to the nearest known meaning.

    ``nearest_least`` and ``nearest_median`` are 1 - cosine to the nearest environment that was there
    before, in the memory or in the shard. None: no meaning was measured.
    """

    vendi_share: float | None
    nearest_least: float | None
    nearest_median: float | None
    collapsed: bool


def variety(
    embeddings_ND: "Array | None",
    novelties: Sequence[float],
    collapse_below: float,
) -> Variety:
    """Return the figures of a shard from what was measured of its admitted environments."""
    count = 0 if embeddings_ND is None else len(embeddings_ND)
    share = None
    if embeddings_ND is not None and count:
        share = vendi(embeddings_ND) / count
    return Variety(
        vendi_share=None if share is None else round(share, 4),
        nearest_least=min(novelties, default=None),
        nearest_median=statistics.median(novelties) if novelties else None,
        collapsed=is_collapsed(share, count, collapse_below),
    )


def is_collapsed(share: float | None, environments: int, below: float) -> bool:
    """Say whether a shard's environments are all alike: Vendi / n under ``below``, not too few."""
    return share is not None and environments >= FEW and share < below


def alarm(shard: int, share: float | None, environments: int) -> str:
    """Return the line that is shown for a collapsed shard."""
    value = share or 0.0
    return (
        f"shard {shard} has collapsed: {environments} environments count as "
        f"{value * environments:.1f} (Vendi / n {value:.2f})"
    )
