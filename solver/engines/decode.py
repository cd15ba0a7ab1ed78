"""Batched sampling of many prompts with one model, in the calling thread.

Each request carries its own seed; position p of its reply takes the p-th uniform of that seed
through the inverse distribution function. So a sample does not depend on its neighbours in the
batch, except for the float noise (about 1e-6) that another batch shape puts on the logits.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from solver.engines.rows import Arena, Block, Kept, Shape
from solver.policy import Completion, Sampling, Stop

_PASS = 2048
"""Positions computed in one prefill pass: efficient, and few enough to stay in the caches."""
_BLOCKED = torch.finfo(torch.float32).min


@dataclass
class Usage:
    """What an engine has done since it was opened."""

    forward_s: float = 0.0
    """Seconds in forward passes and sampling."""
    sampled: int = 0
    fed: int = 0
    """Prompt positions computed."""
    reused: int = 0
    """Prompt positions taken from kept rows or from an identical prompt."""
    batches: int = 0
    steps: int = 0


@dataclass
class Request:
    """One prompt being completed."""

    prompt: tuple[int, ...]
    sampling: Sampling
    deliver: Callable[[Completion], None]
    ids: list[int] = field(default_factory=list)


class Decoder:
    """One model, its kept rows and its counters. Not thread-safe: one thread calls it."""

    def __init__(
        self, model: Any, stop_ids: frozenset[int], cache_bytes: int, batch_tokens: int
    ) -> None:
        self.model = model
        self.stop_ids = stop_ids
        self.batch_tokens = batch_tokens
        self.usage = Usage()
        with torch.inference_mode():
            self.shape = Shape.of(model)
        self.kept = Kept(cache_bytes)
        self._prompts, self._replies = Arena(), Arena()

    def run(self, requests: Sequence[Request], max_batch: int, version: int) -> None:
        """Complete all requests, shortest prompts together; each is delivered as it ends."""
        order = sorted(requests, key=lambda r: (len(r.prompt), r.prompt, r.sampling.seed))
        with torch.inference_mode():
            for batch in _batches(order, max_batch, self.batch_tokens):
                self.usage.batches += 1
                self._batch(batch, version)

    def _batch(self, batch: list[Request], version: int) -> None:
        prompts = list(dict.fromkeys(request.prompt for request in batch))
        logits_U_V, rows_U, digest_U = self._prefill(prompts)
        index = {prompt: number for number, prompt in enumerate(prompts)}
        which = [index[request.prompt] for request in batch]
        self.usage.reused += sum(len(r.prompt) for r in batch) - sum(map(len, prompts))
        width = max(map(len, prompts))
        longest = max(request.sampling.max_tokens for request in batch)
        block = Block(self.shape, self._replies, len(batch), width + longest)
        for row, unique in enumerate(which):
            block.put(row, rows_U[unique], width)
        del rows_U
        block.used = width
        start_B = [width - len(request.prompt) for request in batch]
        mask_B_W = _mask(start_B, width + longest)
        position_B = torch.tensor([[len(request.prompt)] for request in batch])
        # Rows that have ended are fed on until they are closed up: not beyond what the batch asked
        # for, since a learned position table has nothing there.
        last = max(len(request.prompt) + request.sampling.max_tokens for request in batch) - 1
        sampler = _Sampler([request.sampling for request in batch])
        logits_B_V = logits_U_V[torch.tensor(which)]
        live: list[Request | None] = list(batch)
        step = 0
        while True:
            began = time.perf_counter()
            token_B = sampler.draw(logits_B_V, step)
            tokens = token_B.tolist()
            self.usage.forward_s += time.perf_counter() - began
            step += 1
            for row, request in enumerate(live):
                if request is None:
                    continue
                request.ids.append(tokens[row])
                ended = tokens[row] in self.stop_ids
                if ended or step >= request.sampling.max_tokens:
                    self._finish(request, ended, sampler.logprobs(row, step), version)
                    known = request.prompt + tuple(request.ids[:-1])
                    digest = digest_U[index[request.prompt]]
                    kv = block.take(row, start_B[row], block.used)
                    self.kept.put(known, kv, digest, len(request.prompt))
                    live[row] = None
            count = sum(request is not None for request in live)
            if not count:
                return
            if count <= 0.75 * len(live):
                kept = _closed_up([request is not None for request in live])
                rows_B = torch.tensor(kept)
                block.keep(kept)
                sampler.keep(rows_B)
                mask_B_W, position_B, token_B = (
                    mask_B_W[rows_B],
                    position_B[rows_B],
                    token_B[rows_B],
                )
                start_B = [start_B[row] for row in kept]
                live = [live[row] for row in kept]
            logits_B_V = self._forward(
                block, token_B[:, None], mask_B_W[..., : block.used + 1], position_B
            )
            position_B = (position_B + 1).clamp_(max=last)

    def _finish(self, request: Request, ended: bool, logprobs: list[float], version: int) -> None:
        self.usage.sampled += len(request.ids)
        stop: Stop = "end" if ended else "length"
        request.deliver(Completion(tuple(request.ids), tuple(logprobs), stop, version))

    def _prefill(self, prompts: list[tuple[int, ...]]) -> tuple[Tensor, list[Tensor], list[int]]:
        """Return the next-token logits (U, V), the key-value row and the digest of every prompt.

        Rows of one pass are right-aligned; "." is masked, "k" comes out of a kept row, "f" is fed::

            width                12 columns
            prompt of 12         k k k k k k k k f f f f
            prompt of 9, kept 7  . . . k k k k k f f f f     2 of its 4 were known, and are fed again
            prompt of 4          . . . . . . . . f f f f
                                 used = width - feed | feed

        ``feed`` is what the neediest row lacks. A row that lacks less is fed known positions again;
        one with fewer than ``feed`` tokens has padding in front, whose columns are masked.
        """
        digests, found = zip(*(self.kept.find(prompt) for prompt in prompts), strict=True)
        need = [
            len(prompt) - (len(entry.ids) if entry else 0)
            for prompt, entry in zip(prompts, found, strict=True)
        ]
        logits: dict[int, Tensor] = {}
        rows: dict[int, Tensor] = {}
        nothing = torch.empty(2 * self.shape.layers, self.shape.heads, 0, self.shape.size)
        order = sorted(range(len(prompts)), key=lambda number: need[number])
        while order:
            # Rows that need much more than the first get a pass of their own: every row of a pass
            # computes as many positions as its neediest one.
            most = 2 * need[order[0]] + 16
            rows_most = max(1, _PASS // most)
            part = [number for number in order[:rows_most] if need[number] <= most]
            order = order[len(part) :]
            feed = max(need[number] for number in part)
            width = max(len(prompts[number]) for number in part)
            block = Block(self.shape, self._prompts, len(part), width)
            ids = torch.zeros(len(part), feed, dtype=torch.long)
            length = [len(prompts[number]) for number in part]
            for row, number in enumerate(part):
                entry = found[number]
                known = max(0, length[row] - feed) if entry else 0
                block.put(row, entry.kv[:, :, :known] if entry else nothing, width - feed)
                tail = prompts[number][-feed:]
                ids[row, feed - len(tail) :] = torch.tensor(tail)
                self.usage.reused += length[row] - len(tail)
                self.usage.fed += len(tail)
            block.used = width - feed
            start_B = torch.tensor([width - n for n in length])
            column_W = torch.arange(width)
            column_F = column_W[width - feed :]
            blocked = (column_W < start_B[:, None])[:, None, :] | (column_W > column_F[:, None])
            mask = torch.zeros(len(part), 1, feed, width).masked_fill_(blocked[:, None], _BLOCKED)
            position = (column_F - start_B[:, None]).clamp_(min=0)
            out = self._forward(block, ids, mask, position)
            for row, number in enumerate(part):
                logits[number] = out[row]
                rows[number] = block.take(row, width - length[row], width)
        for entry in found:
            if entry is not None:
                self.kept.drop(entry)
        count = range(len(prompts))
        return torch.stack([logits[n] for n in count]), [rows[n] for n in count], list(digests)

    def _forward(self, block: Block, ids: Tensor, mask: Tensor, position: Tensor) -> Tensor:
        """Feed ids (B, n) behind the block's columns; return the logits (B, V) after the last."""
        began = time.perf_counter()
        out = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=position,
            cache=block.cache,
            use_cache=True,
            logits_to_keep=1,
        )
        block.used += ids.shape[1]
        logits: Tensor = out.logits[:, -1].float()
        self.usage.forward_s += time.perf_counter() - began
        self.usage.steps += 1
        return logits


class _Sampler:
    """Seeded draws for the rows of a batch."""

    def __init__(self, samplings: list[Sampling]) -> None:
        longest = max(sampling.max_tokens for sampling in samplings)
        uniform = np.zeros((len(samplings), longest))
        for row, sampling in enumerate(samplings):
            if sampling.temperature:
                uniform[row, : sampling.max_tokens] = uniforms(sampling.seed, sampling.max_tokens)
        self.uniform_B_T = torch.tensor(uniform)  # on the device of the others
        temperature = torch.tensor([sampling.temperature for sampling in samplings])
        self.greedy_B = temperature == 0
        self.temperature_B = torch.where(self.greedy_B, 1.0, temperature)[:, None]
        self.plain = bool((self.temperature_B == 1).all())
        self.any_greedy = bool(self.greedy_B.any())
        # What a greedy row is drawn from does not matter: it takes the likeliest.
        free = [s.temperature == 0 for s in samplings]
        self.top_k_B = torch.tensor(
            [0 if f else s.top_k for f, s in zip(free, samplings, strict=True)]
        )
        self.top_p_B = torch.tensor(
            [1.0 if f else s.top_p for f, s in zip(free, samplings, strict=True)]
        )
        self.whole = bool((self.top_k_B == 0).all() and (self.top_p_B == 1).all())
        self._logprob_B_T = torch.zeros(len(samplings), longest)

    def draw(self, logits_B_V: Tensor, step: int) -> Tensor:
        """Sample one token per row and note its log-probability."""
        if not self.plain:
            logits_B_V = logits_B_V / self.temperature_B
        logp_B_V = torch.log_softmax(logits_B_V, -1)
        if not self.whole:
            logp_B_V = likeliest(logp_B_V, self.top_k_B, self.top_p_B)
        cdf_B_V = logp_B_V.exp().cumsum(-1, dtype=torch.float64)
        target_B_1 = self.uniform_B_T[:, step, None] * cdf_B_V[:, -1:]
        token_B_1 = torch.searchsorted(cdf_B_V, target_B_1, right=True)
        token_B_1.clamp_(max=logits_B_V.shape[1] - 1)
        if self.any_greedy:
            best = logits_B_V.argmax(-1, keepdim=True)
            token_B_1 = torch.where(self.greedy_B[:, None], best, token_B_1)
        self._logprob_B_T[:, step] = logp_B_V.gather(1, token_B_1)[:, 0]
        return token_B_1[:, 0]

    def logprobs(self, row: int, count: int) -> list[float]:
        """The log-probabilities of the first ``count`` draws of a row."""
        values: list[float] = self._logprob_B_T[row, :count].tolist()
        return values

    def keep(self, rows_B: Tensor) -> None:
        """Drop all rows but these."""
        self.uniform_B_T = self.uniform_B_T[rows_B]
        self.greedy_B = self.greedy_B[rows_B]
        self.temperature_B = self.temperature_B[rows_B]
        self.top_k_B, self.top_p_B = self.top_k_B[rows_B], self.top_p_B[rows_B]
        self._logprob_B_T = self._logprob_B_T[rows_B]


def likeliest(logp_B_V: Tensor, top_k_B: Tensor, top_p_B: Tensor) -> Tensor:
    """Return log-probabilities over the tokens that are left: -inf for the others, sums to 1.

    The ``top_k`` likeliest (0: all), then as few of these, likeliest first, as hold ``top_p`` of their
    probability (1: all; never none).
    """
    sorted_B_V, order_B_V = logp_B_V.sort(stable=True, dim=-1, descending=True)
    rank_V = torch.arange(logp_B_V.shape[-1], device=logp_B_V.device)
    out_B_V = (rank_V >= top_k_B[:, None]) & (top_k_B[:, None] > 0)
    p_B_V = torch.softmax(sorted_B_V.masked_fill(out_B_V, -torch.inf).double(), -1)
    before_B_V = p_B_V.cumsum(-1) - p_B_V
    out_B_V |= (before_B_V >= top_p_B[:, None]) & (top_p_B[:, None] < 1)
    kept_B_V = torch.empty_like(logp_B_V).scatter_(
        1, order_B_V, sorted_B_V.masked_fill(out_B_V, -torch.inf)
    )
    return torch.log_softmax(kept_B_V, -1)


def uniforms(seed: int, count: int) -> Any:
    """Return the first ``count`` uniforms in [0, 1) of a seed (float64)."""
    return np.random.Generator(np.random.Philox(key=seed % 2**64)).random(count)


def _closed_up(alive_B: list[bool]) -> list[int]:
    """The alive rows with as few moves as possible: the last ones fill the gaps."""
    rows = [row for row, alive in enumerate(alive_B) if alive]
    count = len(rows)
    spare = [row for row in rows if row >= count]
    return [row if alive_B[row] else spare.pop() for row in range(count)]


def _mask(start_B: list[int], width: int) -> Tensor:
    """Additive mask (B, 1, 1, W) that hides the columns before each row's start."""
    hidden = torch.arange(width) < torch.tensor(start_B)[:, None]
    return torch.zeros(len(start_B), 1, 1, width).masked_fill_(hidden[:, None, None], _BLOCKED)


def _batches(order: list[Request], max_batch: int, batch_tokens: int) -> list[list[Request]]:
    """Cut requests, sorted by prompt length, into batches within both limits."""
    batches: list[list[Request]] = []
    width = 0
    for request in order:
        need = len(request.prompt) + request.sampling.max_tokens
        wider = max(width, need)
        full = bool(batches) and (
            len(batches[-1]) >= max_batch or wider * (len(batches[-1]) + 1) > batch_tokens
        )
        if not batches or full:
            batches.append([])
            wider = need
        batches[-1].append(request)
        width = wider
    return batches
