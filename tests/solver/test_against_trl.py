"""The same gradient as TRL's GRPOTrainer, from its own loss, on the same fixed rollouts."""

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from solver.config import TrainConfig
from solver.learner import Item, Learner, Share
from solver.loss import Aggregation, divisor
from solver.weights import load_model
from tests.solver.families import make_tokenizer
from tests.solver.rollouts import make_samples

LENGTH = 32


def trl_trainer(folder: Path, out: Path, loss_type: str) -> Any:
    """TRL's trainer, as it is, around the same weights; its data set and reward are never used."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    arguments = GRPOConfig(
        output_dir=str(out),
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=LENGTH,
        loss_type=loss_type,
        epsilon=0.2,
        epsilon_high=0.28,
        beta=0.0,
        temperature=1.0,
        report_to=[],
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        model=load_model(folder),
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=arguments,
        train_dataset=Dataset.from_dict({"prompt": ["x"] * 8}),
        processing_class=make_tokenizer("chatml"),
    )
    trainer.current_gradient_accumulation_steps = 1
    return trainer


def trl_inputs(items: list[Item], prompt: int) -> dict[str, torch.Tensor]:
    """Rollouts in TRL's form: left of ``prompt`` the prompt, right of it replies and what came between."""
    width = max(len(item.ids_T) for item in items) - prompt
    rows: dict[str, list[torch.Tensor]] = {"ids": [], "there": [], "sampled": [], "logp": []}
    for item in items:
        pad = prompt + width - len(item.ids_T)
        for name, values in (
            ("ids", item.ids_T),
            ("there", torch.ones(len(item.ids_T), dtype=torch.long)),
            ("sampled", torch.tensor(item.sample.mask)),
            ("logp", torch.tensor(item.sample.logprobs)),
        ):
            rows[name].append(torch.nn.functional.pad(values, (0, pad)))
    whole = {name: torch.stack(values) for name, values in rows.items()}
    return {
        "prompt_ids": whole["ids"][:, :prompt],
        "prompt_mask": whole["there"][:, :prompt],
        "completion_ids": whole["ids"][:, prompt:],
        "completion_mask": whole["there"][:, prompt:],
        "tool_mask": whole["sampled"][:, prompt:],
        "old_per_token_logps": whole["logp"][:, prompt:],
        "advantages": torch.tensor([item.advantage for item in items]),
        "num_items_in_batch": whole["sampled"].sum(),
    }


@pytest.mark.parametrize(("ours", "theirs"), [("dr_grpo", "dr_grpo"), ("token-mean", "dapo")])
@pytest.mark.parametrize("stale", [False, True])
def test_the_norm_of_the_gradient_is_that_of_trl(
    ours: Aggregation, theirs: str, stale: bool, model_dir: Path, tmp_path: Path
) -> None:
    config = TrainConfig(micro_tokens=64, grad_clip=1e9, dr_grpo_tokens=LENGTH)
    learner = Learner(model_dir, {"solver": 1e-3}, config)
    # Every prompt as long as the others: TRL pads on the left, which is not what is compared here.
    samples = [sample for sample in make_samples(900, warm=True) if sample.mask.index(1) == 9][:8]
    assert len(samples) == 8
    items = [Item(sample, sample.reward - 0.5) for sample in samples]
    noise = torch.Generator().manual_seed(1)
    for item, logp_N in zip(items, learner.logprobs(samples), strict=True):
        # TRL clips to the old policy and has no weight of its own for it: behaviour and anchor agree.
        item.behaviour_N = logp_N + stale * 0.3 * torch.randn(len(logp_N), generator=noise)
        item.anchor_N = item.behaviour_N
    below = divisor(
        ours, tokens=sum(item.sample.tokens for item in items), episodes=8, length=LENGTH
    )
    (tally,), norm = learner.step("solver", [Share(items, 1.0, below)])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = trl_trainer(model_dir, tmp_path, theirs)
        inputs = trl_inputs(items, 9)
        for row, item in enumerate(items):
            inputs["old_per_token_logps"][row, item.places_N - 9] = item.behaviour_N
        trainer.model.train()
        loss = trainer.compute_loss(trainer.model, inputs)
        loss.backward()
    gradients = [value.grad for value in trainer.model.parameters() if value.grad is not None]
    expected = float(torch.nn.utils.get_total_norm(gradients))
    assert norm == pytest.approx(expected, rel=5e-6)
    assert tally.loss == pytest.approx(float(loss.detach()), rel=1e-5, abs=1e-7)
    assert (tally.clip_low + tally.clip_high > 0) == stale
