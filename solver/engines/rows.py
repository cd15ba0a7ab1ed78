"""Key-value rows: the buffer of a batch, and rows kept between the turns of a conversation."""

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin, DynamicCache, DynamicLayer

from spadekit.errors import BadInput

# Axes: L layers, B rows, H key-value heads, W columns (positions, right-aligned prompts), D head
# size. A row of a conversation is one tensor of shape (2L, H, length, D): keys and values of layer
# l at 2l and 2l+1.


@dataclass(frozen=True)
class Shape:
    """What one cached position of a model looks like."""

    layers: int
    heads: int
    size: int

    @classmethod
    def of(cls, model: Any) -> "Shape":
        """Read the shape off one forward pass; refuse models whose cache is not plain attention."""
        cache = DynamicCache(config=model.config)
        model(input_ids=torch.zeros(1, 1, dtype=torch.long), cache=cache, use_cache=True)
        shapes = {
            tuple(layer.keys.shape)
            if type(layer) is DynamicLayer and layer.keys is not None
            else None
            for layer in cache.layers
        }
        if len(shapes) != 1 or None in shapes:
            raise BadInput(
                f"the local engine cannot run {type(model).__name__}: its layers do not share one "
                "plain attention cache (sliding windows or recurrent layers); use another model"
            )
        (shape,) = shapes
        assert shape is not None
        return cls(len(cache.layers), shape[1], shape[3])


class Arena:
    """Memory used by one block after another: fresh pages cost as much as the arithmetic."""

    def __init__(self) -> None:
        self._flat = torch.empty(0)

    def take(self, *shape: int) -> Tensor:
        """Return uninitialised memory; the tensor taken before is no longer to be used."""
        need = math.prod(shape)
        if self._flat.numel() < need:
            self._flat = torch.empty(need)
        return self._flat[:need].view(shape)


class Block:
    """The cache of one batch: preallocated columns that layers write in place."""

    def __init__(self, shape: Shape, arena: Arena, rows: int, width: int) -> None:
        self.used = 0
        self.kv = arena.take(2 * shape.layers, rows, shape.heads, width, shape.size)
        self.cache = Cache(layers=[_Layer(self, layer) for layer in range(shape.layers)])

    def keep(self, rows_B: Sequence[int]) -> None:
        """Keep these rows, in this order; each must stand at or behind its new place."""
        for place, row in enumerate(rows_B):
            if place != row:
                self.kv[:, place, :, : self.used] = self.kv[:, row, :, : self.used]
        self.kv = self.kv[:, : len(rows_B)]

    def put(self, row: int, kv: Tensor, end: int) -> None:
        """Place a conversation's row so that it ends before column ``end``; zeros before it.

        Masked columns must hold finite numbers: 0 times what lies in fresh memory may be nan.
        """
        start = end - kv.shape[2]
        self.kv[:, row, :, start:end] = kv
        self.kv[:, row, :, :start] = 0

    def take(self, row: int, start: int, end: int) -> Tensor:
        """Copy columns of one row."""
        return self.kv[:, row, :, start:end].clone()


class _Layer(CacheLayerMixin):  # type: ignore[no-untyped-call]
    """One layer's view of a block, in the form that transformers models write to."""

    is_sliding = False

    def __init__(self, block: Block, layer: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.block, self.at = block, 2 * layer
        self.is_initialized = True

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Nothing to do: the block is allocated."""

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Write (B, H, n, D) behind the used columns and return all columns."""
        start = self.block.used
        end = start + key_states.shape[2]
        keys, values = self.block.kv[self.at], self.block.kv[self.at + 1]
        keys[:, :, start:end] = key_states
        values[:, :, start:end] = value_states
        return keys[:, :, :end], values[:, :, :end]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Columns after the coming pass, and their offset."""
        return self.block.used + query_length, 0

    def get_seq_length(self) -> int:
        """Columns in use."""
        return self.block.used

    def get_max_length(self) -> int:
        """No bound."""
        return -1


@dataclass(frozen=True)
class Row:
    """What is kept of a conversation: its ids, the keys and values of all of them, and their digest."""

    ids: tuple[int, ...]
    kv: Tensor
    digest: int


class Kept:
    """Rows of finished turns, found again when the conversation goes on; oldest out first."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget = budget_bytes
        self.bytes = 0
        self._rows: OrderedDict[int, Row] = OrderedDict()

    def put(self, ids: tuple[int, ...], kv: Tensor, begun: int, at: int) -> None:
        """Keep the row of exactly these ids; ``begun`` is the digest of the first ``at`` of them."""
        if kv.nbytes > self.budget:
            return
        row = Row(ids, kv, _digests(ids[at:], begun)[-1])
        self.drop(row)
        self._rows[row.digest] = row
        self.bytes += kv.nbytes
        while self.bytes > self.budget:
            _, old = self._rows.popitem(last=False)
            self.bytes -= old.kv.nbytes

    def find(self, ids: tuple[int, ...]) -> "tuple[int, Row | None]":
        """Return the digest of ``ids`` and the longest kept row that is a proper prefix of them."""
        digests = _digests(ids)
        for digest in reversed(digests[:-1]):
            row = self._rows.get(digest)
            if row is not None and row.ids == ids[: len(row.ids)]:
                return digests[-1], row
        return digests[-1], None

    def drop(self, row: "Row") -> None:
        """Forget a row."""
        old = self._rows.pop(row.digest, None)
        if old is not None:
            self.bytes -= old.kv.nbytes

    def clear(self) -> None:
        """Forget all rows (the weights changed)."""
        self._rows.clear()
        self.bytes = 0


def _digests(ids: Sequence[int], begun: int = 0) -> list[int]:
    """Rolling digests: ``begun``, of what stands before ``ids``, then of every prefix longer by one.

    Tuples of ints hash the same in every process.
    """
    digest, out = begun, [begun]
    for token in ids:
        digest = hash((digest, token))
        out.append(digest)
    return out
