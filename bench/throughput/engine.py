"""The local engine's sampling speed by batch size, against ``generate`` of transformers."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.statistics import quantile
from bench.throughput.row import Row
from sandbox import Message
from solver.config import PolicyConfig
from solver.engines.local import LocalEngine
from solver.policy import Sampling
from solver.weights import load_model
from spadekit.seeds import derive

BATCHES = (1, 32, 128)
MAX_TOKENS = 96
WAVES = 3
SKILLS = ("spatial_reasoning", "memory_recall", "logical_deduction", "optimisation")


async def measure(model_dir: Path, config: PolicyConfig) -> list[Row]:
    """Return tokens per second for each batch size; ours and the peer's waves take turns."""
    import torch

    engine = LocalEngine.open(model_dir, replace(config, max_batch=max(BATCHES)))
    peer = load_model(model_dir).eval()
    threads = torch.get_num_threads()
    torch.set_num_threads(config.threads)
    try:
        rows = []
        for batch in BATCHES:
            prompts = [
                engine.chat.start([Message("user", _brief(index))]) for index in range(batch)
            ]
            await _ours(engine, prompts, 0)
            _peers(peer, engine, prompts, 0)
            ours, theirs = [], []
            for wave in range(1, WAVES + 1):
                ours.append(await _ours(engine, prompts, wave))
                theirs.append(_peers(peer, engine, prompts, wave))
            rows.append(
                Row(
                    part="engine",
                    measure=f"sampling, batch {batch}",
                    value=quantile(ours, 0.5),
                    unit="tokens/s",
                    n=WAVES,
                    peer="transformers generate",
                    peer_value=quantile(theirs, 0.5),
                )
            )
        return rows
    finally:
        torch.set_num_threads(threads)
        engine.close()


def _brief(index: int) -> str:
    return f"design game\nskill {SKILLS[index % len(SKILLS)]}\nlevel {index % 5 + 1}"


async def _ours(engine: LocalEngine, prompts: Sequence[Sequence[int]], wave: int) -> float:
    started = time.perf_counter()
    done = await asyncio.gather(
        *(
            engine.complete(prompt, Sampling(1.0, MAX_TOKENS, derive(0, "throughput", wave, index)))
            for index, prompt in enumerate(prompts)
        )
    )
    return sum(len(one.ids) for one in done) / (time.perf_counter() - started)


def _peers(model: Any, engine: LocalEngine, prompts: Sequence[Sequence[int]], wave: int) -> float:
    """Sample the same prompts, padded on the left; tokens after a reply's end do not count."""
    import torch

    stop = sorted(engine.chat.stop_ids)
    width = max(len(prompt) for prompt in prompts)
    ids = torch.full((len(prompts), width), stop[0])
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = torch.tensor(prompt)
        mask[row, width - len(prompt) :] = 1
    torch.manual_seed(derive(0, "throughput peer", wave))
    started = time.perf_counter()
    with torch.inference_mode():
        out = model.generate(
            input_ids=ids,
            attention_mask=mask,
            do_sample=True,
            temperature=1.0,
            top_k=0,
            max_new_tokens=MAX_TOKENS,
            eos_token_id=stop,
            pad_token_id=stop[0],
        )
    seconds = time.perf_counter() - started
    ends = torch.isin(out[:, width:], torch.tensor(stop)).int()
    before_end = ends.cumsum(1) - ends == 0
    return float(before_end.sum()) / seconds
