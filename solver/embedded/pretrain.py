"""Trains the embedded policy from nothing on the grammar's designs and plays.

One or two ranks of one thread each (gloo), in float32: a processor without bfloat16 arithmetic of its
own is fifty times slower in it. Resumable from its own checkpoint. The learning rate
falls linearly with the share of the steps that are done, so how fast the machine is, or how busy,
makes no difference to what comes out.
"""

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from solver import manifest
from solver.embedded import data, tokenizer
from solver.embedded.muon import Muon
from spadekit.seeds import derive

ROLES = ("designer", "solver")
POOL = {"designer": 64, "solver": 256}
VOCABULARY, HIDDEN, LAYERS, HEADS, KV_HEADS, INNER, POSITIONS = 3072, 192, 4, 6, 3, 512, 1024


@dataclass(frozen=True)
class Recipe:
    """One pre-training run."""

    seed: int
    steps: int
    out: Path
    ranks: int = 2
    rate: float = 2.5e-3
    """AdamW's peak rate; Muon's is `muon` times it."""
    muon: float = 6.5
    tokens: int = 1000
    """Padded tokens of one batch of one rank."""
    warmup: int = 40
    save_s: float = 120.0


@dataclass
class Progress:
    """Where a run stands; saved with the weights."""

    step: int = 0
    tokens: int = 0
    spent_s: float = 0.0
    pools: dict[str, int] | None = None
    loss: dict[str, float] | None = None


class Batches:
    """Batches of one role and rank, in an order fixed by the seed; can go on from any pool."""

    def __init__(
        self, recipe: Recipe, role: str, rank: int, encode: data.Encoder, pool: int
    ) -> None:
        self.pool = pool
        self._recipe, self._role, self._rank, self._encode = recipe, role, rank, encode
        self._ready: list[list[tuple[list[int], list[int]]]] = []

    def next(self) -> list[tuple[list[int], list[int]]]:
        """Return some (ids, mask) pairs of about equal length."""
        if not self._ready:
            self._fill()
        return self._ready.pop()

    def _fill(self) -> None:
        seed, size = self._recipe.seed, POOL[self._role]
        rows = [
            self._encode(example)
            for example in data.examples(seed, self._role, self._rank, self.pool, size)
        ]
        rows.sort(key=lambda row: len(row[0]))
        batch: list[tuple[list[int], list[int]]] = []
        for row in rows:
            if batch and (len(batch) + 1) * len(row[0]) > self._recipe.tokens:
                self._ready.append(batch)
                batch = []
            batch.append(row)
        self._ready.append(batch)
        Random(derive(seed, "order", self._role, self._rank, self.pool)).shuffle(self._ready)
        self.pool += 1


def build_tokenizer(seed: int) -> Any:
    """Learn the tokenizer from a sample of the training data."""
    texts = [
        segment.text
        for role in ROLES
        for pool in range(30)
        for example in data.examples(derive(seed, "tokenizer"), role, 0, pool, 50)
        for segment in example
    ]
    return tokenizer.train(texts, VOCABULARY)


def build_model(seed: int, fast: Any) -> LlamaForCausalLM:
    """Return the untrained model."""
    torch.manual_seed(derive(seed, "weights") % 2**31)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        intermediate_size=INNER,
        max_position_embeddings=POSITIONS,
        tie_word_embeddings=True,
        pad_token_id=fast.pad_token_id,
        eos_token_id=fast.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


def loss_of(model: Any, rows: list[tuple[list[int], list[int]]]) -> tuple[Tensor, int]:
    """Return the mean loss of the counted tokens of a batch, and the batch's padded size."""
    width = max(len(ids) for ids, _ in rows)
    ids_B_T = torch.zeros(len(rows), width, dtype=torch.long)
    mask_B_T = torch.zeros(len(rows), width, dtype=torch.bool)
    for i, (ids, mask) in enumerate(rows):
        ids_B_T[i, : len(ids)] = torch.tensor(ids)
        mask_B_T[i, : len(ids)] = torch.tensor(mask, dtype=torch.bool)
    counted = mask_B_T[:, 1:]
    # Right padding with causal attention needs no attention mask.
    hidden_B_T_H = model.model(ids_B_T).last_hidden_state[:, :-1]
    logits_N_V = model.lm_head(hidden_B_T_H[counted])
    loss = torch.nn.functional.cross_entropy(logits_N_V, ids_B_T[:, 1:][counted])
    return loss, ids_B_T.numel()


def run(recipe: Recipe) -> None:
    """Train; the finished policy lies in ``recipe.out``."""
    recipe.out.mkdir(parents=True, exist_ok=True)
    if not (recipe.out / "tokenizer.json").exists():
        build_tokenizer(recipe.seed).save_pretrained(recipe.out)
    if recipe.ranks == 1:
        _worker(0, recipe)
        return
    meeting = recipe.out / "meeting"
    meeting.unlink(missing_ok=True)
    processes: Any = torch.multiprocessing
    processes.spawn(_worker, args=(recipe,), nprocs=recipe.ranks)
    meeting.unlink(missing_ok=True)


def _worker(rank: int, recipe: Recipe) -> None:
    torch.set_num_threads(1)
    if recipe.ranks > 1:
        dist.init_process_group(
            "gloo",
            init_method=f"file://{(recipe.out / 'meeting').resolve()}",
            rank=rank,
            world_size=recipe.ranks,
        )
    fast = AutoTokenizer.from_pretrained(recipe.out)
    model = build_model(recipe.seed, fast)
    inner = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    outer = [p for n, p in model.named_parameters() if not (p.ndim == 2 and "embed" not in n)]
    adam = torch.optim.AdamW(outer, lr=recipe.rate, betas=(0.9, 0.95), weight_decay=0.0)
    muon = Muon(inner, recipe.rate * recipe.muon, ranks=recipe.ranks)
    progress = Progress(pools=dict.fromkeys(POOL, 0), loss={})
    state = recipe.out / "state.pt"
    if state.exists():
        saved = torch.load(state, weights_only=True)
        model.load_state_dict(saved["model"])
        adam.load_state_dict(saved["adam"])
        muon.load_state_dict(saved["muon"])
        progress = Progress(**saved["progress"])
    _train(rank, recipe, fast, model, adam, muon, progress)
    if rank == 0:
        export(model, fast, recipe, progress)
    if recipe.ranks > 1:
        dist.destroy_process_group()


def _train(
    rank: int,
    recipe: Recipe,
    fast: Any,
    model: Any,
    adam: torch.optim.AdamW,
    muon: Muon,
    progress: Progress,
) -> None:
    assert progress.pools is not None
    assert progress.loss is not None
    encode = data.Encoder(fast)
    sources = {
        role: Batches(recipe, role, rank, encode, progress.pools.get(role, 0)) for role in POOL
    }
    params = list(model.parameters())
    began = time.monotonic() - progress.spent_s
    saved = time.monotonic()
    model.train()
    while progress.step < recipe.steps:
        progress.spent_s = time.monotonic() - began
        share = progress.step / recipe.steps
        rate = recipe.rate * min(1.0, (progress.step + 1) / recipe.warmup) * (1 - 0.98 * share)
        _set_rate(adam, rate)
        _set_rate(muon, rate * recipe.muon)
        role = ROLES[progress.step % 2]
        loss, size = loss_of(model, sources[role].next())
        loss.backward()  # type: ignore[no-untyped-call]
        _average(params, recipe.ranks)
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        adam.step()
        muon.step()
        model.zero_grad(set_to_none=True)
        progress.step += 1
        progress.tokens += size * recipe.ranks
        value = loss.item()
        progress.loss[role] = 0.98 * progress.loss.get(role, value) + 0.02 * value
        if rank == 0 and progress.step % 100 == 0:
            _log(recipe, progress, rate)
        if rank == 0 and time.monotonic() - saved > recipe.save_s:
            saved = time.monotonic()
            progress.pools = {name: source.pool for name, source in sources.items()}
            _save(recipe, model, adam, muon, progress)
    progress.pools = {name: source.pool for name, source in sources.items()}
    if rank == 0:
        _save(recipe, model, adam, muon, progress)


def _average(params: list[Tensor], ranks: int) -> None:
    if ranks == 1:
        return
    grads = [param.grad for param in params if param.grad is not None]
    flat = torch.cat([grad.flatten() for grad in grads])
    dist.all_reduce(flat)
    flat /= ranks
    offset = 0
    for grad in grads:
        grad.copy_(flat[offset : offset + grad.numel()].view_as(grad))
        offset += grad.numel()


def _set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def _log(recipe: Recipe, progress: Progress, rate: float) -> None:
    line = {
        "step": progress.step,
        "spent_s": round(progress.spent_s, 1),
        "tokens": progress.tokens,
        "rate": round(rate, 6),
        "loss": {role: round(value, 4) for role, value in (progress.loss or {}).items()},
    }
    with (recipe.out / "log.jsonl").open("a") as out:
        out.write(json.dumps(line) + "\n")


def _save(
    recipe: Recipe, model: Any, adam: torch.optim.AdamW, muon: Muon, progress: Progress
) -> None:
    aside = recipe.out / "state.pt.new"
    torch.save(
        {
            "model": model.state_dict(),
            "adam": adam.state_dict(),
            "muon": muon.state_dict(),
            "progress": asdict(progress),
        },
        aside,
    )
    os.replace(aside, recipe.out / "state.pt")  # noqa: PTH105


def export(model: Any, fast: Any, recipe: Recipe, progress: Progress) -> None:
    """Write the policy: bfloat16 weights, tokenizer, and a manifest with the facts of the run."""
    policy = recipe.out / "policy"
    model.to(torch.bfloat16).save_pretrained(policy)
    fast.save_pretrained(policy)
    manifest.write(
        policy,
        {
            "seed": recipe.seed,
            "minutes": round(progress.spent_s / 60, 2),
            "ranks": recipe.ranks,
            "steps": progress.step,
            "tokens": progress.tokens,
            "parameters": sum(p.numel() for p in model.parameters()),
            "loss": {role: round(value, 4) for role, value in (progress.loss or {}).items()},
            "pools": progress.pools,
            "pool_size": POOL,
        },
    )


def snapshot(recipe: Recipe) -> None:
    """Write the policy as it was at the last checkpoint of a run that may still go on."""
    fast = AutoTokenizer.from_pretrained(recipe.out)
    saved = torch.load(recipe.out / "state.pt", weights_only=True)
    model = build_model(recipe.seed, fast)
    model.load_state_dict(saved["model"])
    export(model, fast, recipe, Progress(**saved["progress"]))


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=9_000, help="about 1,800 tokens each")
    parser.add_argument("--ranks", type=int, default=2, choices=(1, 2))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--snapshot", action="store_true", help="only export the last checkpoint")
    given = parser.parse_args()
    recipe = Recipe(given.seed, given.steps, given.out, given.ranks)
    snapshot(recipe) if given.snapshot else run(recipe)


if __name__ == "__main__":
    main()
