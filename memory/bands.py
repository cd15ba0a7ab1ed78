"""Which known signatures share a band with a new one: sorted columns, found by bisection."""

import numpy as np
import numpy.typing as npt

PERMUTATIONS = 128
# 32 bands of 4: a pair at Jaccard 0.70 shares a band with probability 0.9998, at 0.20 with 0.05.
BANDS = 32
_TAIL = 1024  # rows added since the columns were sorted; compared one by one

Signature = tuple[int, ...]
Rows = npt.NDArray[np.int64]


class BandIndex:
    """Rows by the bands of their MinHash signatures: 384 bytes a row, a look-up in microseconds."""

    def __init__(self) -> None:
        self._keys = np.zeros((BANDS, 0), np.uint64)
        self._rows = np.zeros((BANDS, 0), np.int32)
        self._tail = np.zeros((_TAIL, BANDS), np.uint64)
        self._added = 0

    def __len__(self) -> int:
        return self._keys.shape[1] + self._added

    def add(self, signature: Signature) -> None:
        """Append one row."""
        if self._added == _TAIL:
            self._sort(self._tail)
        self._tail[self._added] = banded(np.array([signature], np.uint64))[0]
        self._added += 1

    def extend(self, signatures_NP: npt.NDArray[np.unsignedinteger]) -> None:
        """Append many rows, shape (N, 128)."""
        self._sort(np.concatenate([self._tail[: self._added], banded(signatures_NP)]))

    def sharing(self, signature: Signature, most: int) -> list[int]:
        """Return the rows that share a band, those that share most bands first."""
        wanted = banded(np.array([signature], np.uint64))[0]
        found = []
        for keys, rows, key in zip(self._keys, self._rows, wanted, strict=True):
            low = int(keys.searchsorted(key, "left"))
            if low < len(keys) and keys[low] == key:
                found.append(rows[low : int(keys.searchsorted(key, "right"))])
        shared = (self._tail[: self._added] == wanted).sum(axis=1)
        recent = np.flatnonzero(shared)
        rows, counts = np.unique(np.concatenate([[], *found]).astype(np.int64), return_counts=True)
        rows = np.concatenate([rows, recent + self._keys.shape[1]])
        counts = np.concatenate([counts, shared[recent]])
        return [int(row) for row in rows[np.argsort(-counts, kind="stable")][:most]]

    def _sort(self, bands_NB: npt.NDArray[np.uint64]) -> None:
        first = self._keys.shape[1]
        rows = np.arange(first, first + len(bands_NB), dtype=np.int32)
        keys = np.concatenate([self._keys, bands_NB.T], axis=1)
        every = np.concatenate([self._rows, np.tile(rows, (BANDS, 1))], axis=1)
        order = keys.argsort(axis=1, kind="stable")
        self._keys = np.take_along_axis(keys, order, axis=1)
        self._rows = np.take_along_axis(every, order, axis=1)
        self._added = 0


def banded(signatures_NP: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.uint64]:
    """Return one 64-bit number per band of four signature values, shape (N, 32)."""
    values = signatures_NP.astype(np.uint64).reshape(-1, BANDS, PERMUTATIONS // BANDS)
    mixed = np.zeros(values.shape[:2], np.uint64)
    for column in range(values.shape[2]):
        # Overflow wraps, as intended: a polynomial hash modulo 2**64.
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + values[:, :, column] + np.uint64(1)
    return mixed
