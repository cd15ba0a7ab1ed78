"""Training speed: tokens of ours trained per second, against TRL's trainer on the same rollouts.

Both take the same optimiser step on the same model, samples and advantages, from token ids in Python lists
to changed weights: forward and backward passes, clipping of the gradient, AdamW. TRL is used as it is:
its padded batch, its loss, its micro-batches of the largest size within the same budget of padded
positions. Generation, data loading and logging are left out of both.
"""

import random
import statistics
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.throughput.row import Row
from solver.config import TrainConfig
from solver.samples import Sample
from solver.weights import load_model
from spadekit.errors import BadInput

SAMPLES = 48
WAVES = 3
RATE = 1e-6


class NoPeer(BadInput):
    """The trainer that ours is measured against is not installed."""


def measure(model_dir: Path, config: TrainConfig) -> list[Row]:
    """Return trained tokens per second; waves of ours and of the peer's take turns.

    Raises ``NoPeer`` where TRL is not installed.
    """
    import torch

    from solver.learner import Item, Learner, Share

    learner = Learner(model_dir, {"solver": RATE}, config)
    samples = mixed_lengths(SAMPLES, learner.vocabulary)
    advantages = [sample.reward - 0.5 for sample in samples]
    tokens = sum(sample.tokens for sample in samples)
    threads = torch.get_num_threads()
    torch.set_num_threads(config.threads)

    def ours() -> float:
        began = time.perf_counter()
        items = [Item(*pair) for pair in zip(samples, advantages, strict=True)]
        _, norm = learner.step("solver", [Share(items, 1.0, float(tokens))])
        assert norm > 0
        return time.perf_counter() - began

    with TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            peer = _Trl(model_dir, Path(scratch), samples, advantages, config)
        except ImportError:
            raise NoPeer("TRL is not installed here: pip install -e '.[bench]'") from None
        try:
            ours(), peer.step()
            taken = [(ours(), peer.step()) for _ in range(WAVES)]
        finally:
            torch.set_num_threads(threads)
    mine, theirs = (tokens / statistics.median(column) for column in zip(*taken, strict=True))
    return [
        Row(
            part="train",
            measure=f"an optimiser step on {SAMPLES} samples",
            value=mine,
            unit="tokens/s",
            n=WAVES,
            peer="TRL GRPOTrainer",
            peer_value=theirs,
        )
    ]


def mixed_lengths(count: int, vocabulary: int) -> list[Sample]:
    """Samples as training meets them: many short plays of a few turns, and some long designs."""
    rng = random.Random(0)
    samples = []
    for number in range(count):
        long = number % 6 == 0
        turns = 1 if long else rng.randint(1, 5)
        mask: list[int] = []
        for _ in range(turns):
            mask += [0] * rng.randint(12, 40)
            mask += [1] * (rng.randint(150, 400) if long else rng.randint(4, 24))
        ids = tuple(rng.randrange(vocabulary) for _ in mask)
        logprobs = tuple(-8.0 * sampled for sampled in mask)
        group = f"g{number // 8}"
        samples.append(Sample(group, group, ids, tuple(mask), logprobs, rng.random(), 1.0, 0))
    return samples


class _Trl:
    """TRL's trainer around the same weights, fed with the same rollouts."""

    def __init__(
        self,
        folder: Path,
        scratch: Path,
        samples: Sequence[Sample],
        advantages: Sequence[float],
        config: TrainConfig,
    ) -> None:
        import torch
        from datasets import Dataset
        from transformers import AutoTokenizer
        from trl.trainer.grpo_config import GRPOConfig
        from trl.trainer.grpo_trainer import GRPOTrainer

        self._samples, self._advantages = samples, advantages
        width = max(len(sample.ids) for sample in samples)
        # Within the budget of padded positions, and a divisor of the batch: TRL's are all of one size.
        self._rows = max(
            size
            for size in range(1, len(samples) + 1)
            if len(samples) % size == 0 and (size == 1 or size * width <= config.micro_tokens)
        )
        arguments = GRPOConfig(
            output_dir=str(scratch),
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            per_device_train_batch_size=self._rows,
            gradient_accumulation_steps=len(samples) // self._rows,
            generation_batch_size=len(samples),
            num_generations=2,
            max_completion_length=width,
            loss_type="dapo",
            epsilon_high=config.clip_high,
            temperature=1.0,
            learning_rate=RATE,
            report_to=[],
            disable_tqdm=True,
        )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._trainer: Any = GRPOTrainer(
            model=load_model(folder),
            reward_funcs=_unused,
            args=arguments,
            train_dataset=Dataset.from_dict({"prompt": ["x"] * len(samples)}),
            processing_class=tokenizer,
        )
        self._trainer.current_gradient_accumulation_steps = len(samples) // self._rows
        self._trainer.create_optimizer()
        self._pad = torch.nn.functional.pad
        self._clip = config.grad_clip

    def step(self) -> float:
        """Take an optimiser step; return its seconds."""
        import torch

        trainer, began = self._trainer, time.perf_counter()
        trainer.model.train()
        whole = self._inputs()
        for start in range(0, len(self._samples), self._rows):
            part = {
                name: value if value.dim() == 0 else value[start : start + self._rows]
                for name, value in whole.items()
            }
            trainer.accelerator.backward(trainer.compute_loss(trainer.model, part))
        torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), self._clip)
        trainer.optimizer.step()
        trainer.optimizer.zero_grad()
        return time.perf_counter() - began

    def _inputs(self) -> dict[str, Any]:
        """The rollouts as TRL pads them: prompts on the left, everything after them on the right."""
        import torch

        prompts = [sample.mask.index(1) for sample in self._samples]
        left = max(prompts)
        right = max(len(one.ids) - at for one, at in zip(self._samples, prompts, strict=True))
        rows: dict[str, list[Any]] = {"ids": [], "there": [], "sampled": []}
        for sample, at in zip(self._samples, prompts, strict=True):
            around = (left - at, right - (len(sample.ids) - at))
            ids = torch.tensor(sample.ids)
            rows["ids"].append(self._pad(ids, around))
            rows["there"].append(self._pad(torch.ones_like(ids), around))
            rows["sampled"].append(self._pad(torch.tensor(sample.mask), around))
        whole = {name: torch.stack(values) for name, values in rows.items()}
        return {
            "prompt_ids": whole["ids"][:, :left],
            "prompt_mask": whole["there"][:, :left],
            "completion_ids": whole["ids"][:, left:],
            "completion_mask": whole["there"][:, left:],
            "tool_mask": whole["sampled"][:, left:],
            "advantages": torch.tensor(self._advantages),
            "num_items_in_batch": whole["sampled"].sum(),
        }


def _unused(completions: Sequence[str], **_: Any) -> list[float | None]:
    return [0.0] * len(completions)
