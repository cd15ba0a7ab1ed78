"""Gradients, Adam states and log-probabilities of the model being trained."""

import math
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from safetensors.torch import load_file
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    GPT2Config,
    LlamaConfig,
    Qwen3Config,
)

from solver.advantages import centred
from solver.config import PolicyConfig, TrainConfig
from solver.engines.local import LocalEngine
from solver.learner import Item, Learner, Share, micro_batches
from solver.loss import pull
from solver.policy import Sampling
from solver.samples import Batch, Role, Sample
from solver.trainer import learn
from solver.weights import load_model
from spadekit.errors import BadInput
from tests.solver.rollouts import make_samples

SMALL: dict[str, Any] = {
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "vocab_size": 400,
    "pad_token_id": 0,
}


def naive_gradient(
    folder: Path, items: list[Item], divisor: float, config: TrainConfig
) -> dict[str, torch.Tensor]:
    """The same gradient, sample by sample and token by token, from the formulas alone."""
    model = load_model(folder).eval()
    for item in items:
        sample = item.sample
        logits = model(input_ids=torch.tensor([sample.ids])).logits[0] / sample.temperature
        logp = logits.log_softmax(-1)
        for t, sampled in enumerate(sample.mask):
            if not sampled:
                continue
            now = logp[t - 1, sample.ids[t]]
            here = sum(sample.mask[:t])
            anchor = float(now.detach() if item.anchor_N is None else item.anchor_N[here])
            ratio = (now - anchor).exp()
            bounded = ratio.clamp(1 - config.clip_low, 1 + config.clip_high)
            weight = min(math.exp(anchor - sample.logprobs[t]), config.importance_cap)
            loss = -torch.min(ratio * item.advantage, bounded * item.advantage) * weight / divisor
            loss.backward(retain_graph=True)
    return {name: value.grad for name, value in model.named_parameters() if value.grad is not None}


FAMILIES: dict[str, Any] = {
    "llama, tied": LlamaConfig(tie_word_embeddings=True, **SMALL),
    "llama, untied": LlamaConfig(tie_word_embeddings=False, **SMALL),
    "qwen3, tied": Qwen3Config(tie_word_embeddings=True, head_dim=12, **SMALL),
    "qwen3, untied": Qwen3Config(tie_word_embeddings=False, head_dim=12, **SMALL),
    "gpt2": GPT2Config(n_embd=48, n_layer=2, n_head=4, vocab_size=400, n_positions=512),
    "gemma2, capped logits": Gemma2Config(
        head_dim=12, query_pre_attn_scalar=12, final_logit_softcapping=30.0, **SMALL
    ),
}
"""Grouped queries, tied and untied output layers, learned positions, a head that is more than linear."""


@pytest.mark.parametrize("family", FAMILIES)
def test_any_causal_model_is_trained_by_the_same_gradient(family: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(FAMILIES[family]).save_pretrained(tmp_path)
    test_the_gradient_equals_a_naive_computation(tmp_path, anchored=False)


def test_logits_made_in_parts_give_the_same_gradient(
    model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.learner.LOGITS", 400 * 7)
    test_the_gradient_equals_a_naive_computation(model_dir, anchored=True)


@pytest.mark.parametrize("anchored", [False, True])
def test_the_gradient_equals_a_naive_computation(model_dir: Path, anchored: bool) -> None:
    config = TrainConfig(micro_tokens=90, grad_clip=1e9)
    learner = Learner(model_dir, {"solver": 1e-3}, config)
    rng = random.Random(1)
    items = [Item(sample, rng.uniform(-1, 1)) for sample in make_samples(9)]
    if anchored:
        for item, logp in zip(items, learner.logprobs([i.sample for i in items]), strict=True):
            item.anchor_N = logp + 0.4 * torch.randn(len(logp), generator=torch.manual_seed(3))
    divisor = float(sum(item.sample.tokens for item in items))
    expected = naive_gradient(model_dir, items, divisor, config)
    _, norm = learner.step("solver", [Share(items, 1.0, divisor)])
    for name, value in learner.model.named_parameters():
        assert torch.allclose(value.grad, expected[name], rtol=1e-4, atol=1e-6), name
    total = math.sqrt(sum(float((value**2).sum()) for value in expected.values()))
    assert norm == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize(("dtype", "most"), [("float32", 1e-4), ("bfloat16", 0.3)])
async def test_sampler_and_trainer_agree_on_log_probabilities(
    dtype: Literal["float32", "bfloat16"], most: float, model_dir: Path
) -> None:
    policy = PolicyConfig(dtype=dtype)
    engine = LocalEngine.open(model_dir, policy)
    samples = []
    for number, temperature in enumerate((1.0, 0.6, 1.7, 0.0)):
        prompt = tuple(range(20, 40 + number))
        done = await engine.complete(prompt, Sampling(temperature, 30, number))
        zeros = (0,) * len(prompt)
        samples.append(
            Sample(
                "g",
                "g",
                prompt + done.ids,
                zeros + (1,) * len(done.ids),
                (0.0,) * len(prompt) + done.logprobs,
                0.0,
                temperature,
                0,
            )
        )
    engine.close()
    found = Learner(model_dir, {}, TrainConfig(), policy=policy).logprobs(samples)
    for sample, logp in zip(samples, found, strict=True):
        assert torch.allclose(logp, Item(sample, 0.0).behaviour_N, atol=most)


def test_micro_batches_hold_every_sample_once_within_the_budget() -> None:
    samples = make_samples(40)
    batches = micro_batches(samples, 120)
    assert sorted(index for batch in batches for index in batch) == list(range(40))
    for batch in batches:
        padded = len(batch) * max(len(samples[index].ids) for index in batch)
        assert padded <= 120 or len(batch) == 1
    assert micro_batches([], 120) == []


def test_a_step_without_gradient_leaves_weights_and_adam_alone(model_dir: Path) -> None:
    learner = Learner(model_dir, {"solver": 1e-2}, TrainConfig())
    learner.step("solver", [Share([Item(make_samples(1)[0], 1.0)], 1.0, 5.0)])
    before = {name: value.clone() for name, value in learner.model.state_dict().items()}
    _, norm = learner.step("solver", [Share([Item(make_samples(1)[0], 0.0)], 1.0, 5.0)])
    assert norm == 0.0
    assert all(torch.equal(learner.model.state_dict()[name], v) for name, v in before.items())


def test_the_norm_of_the_gradient_is_clipped(model_dir: Path) -> None:
    config = TrainConfig(grad_clip=1e-3)
    learner = Learner(model_dir, {"solver": 1e-2}, config)
    _, norm = learner.step("solver", [Share([Item(make_samples(1)[0], 5.0)], 1.0, 1.0)])
    squares = sum(float((value.grad**2).sum()) for value in learner.model.parameters())
    assert norm > 1.0 and math.sqrt(squares) == pytest.approx(1e-3, rel=1e-3)


def run(folder: Path, config: TrainConfig, batches: int = 1) -> Learner:
    rates = {"solver": 1e-3, "designer": 1e-3, "shared": 1e-3}
    learner = Learner(folder, rates, config)
    for number in range(batches):
        batch = {
            "solver": Batch(tuple(make_samples(12, seed=number))),
            "designer": Batch(tuple(make_samples(8, seed=100 + number))),
        }
        learn(learner, batch, 0, folder)  # type: ignore[arg-type]
    return learner


def states_equal(left: Learner, right: Learner) -> bool:
    ours, theirs = left.model.state_dict(), right.model.state_dict()
    return all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("optimiser", ["separate", "shared"])
def test_saving_and_going_on_equals_never_having_stopped(
    optimiser: str, model_dir: Path, tmp_path: Path
) -> None:
    config = TrainConfig(optimiser=optimiser, threads=1)  # type: ignore[arg-type]
    rates = {"solver": 1e-3, "designer": 1e-3, "shared": 1e-3}
    whole = run(model_dir, config, batches=2)
    first = run(model_dir, config, batches=1)
    folder = tmp_path / "saved"
    shutil.copytree(model_dir, folder)
    first.save(folder)
    second = Learner(folder, rates, config)
    batch = {
        "solver": Batch(tuple(make_samples(12, seed=1))),
        "designer": Batch(tuple(make_samples(8, seed=101))),
    }
    learn(second, batch, 0, model_dir)  # type: ignore[arg-type]
    assert states_equal(second, whole)
    whole.save(tmp_path)
    second.save(folder)
    ours, theirs = (load_file(where / "optimiser.state") for where in (folder, tmp_path))
    assert ours.keys() == theirs.keys() and ours
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_each_role_has_its_own_adam_state(model_dir: Path, tmp_path: Path) -> None:
    run(model_dir, TrainConfig(solver_updates=3, designer_updates=1)).save(tmp_path)
    state = load_file(tmp_path / "optimiser.state")
    assert float(state["solver/model.norm.weight/step"]) == 3
    assert float(state["designer/model.norm.weight/step"]) == 1


def test_a_role_of_weight_zero_changes_nothing_in_a_shared_step(model_dir: Path) -> None:
    alone = Learner(model_dir, {"shared": 1e-3}, TrainConfig())
    items = [Item(sample, 0.5) for sample in make_samples(3)]
    other = [Item(sample, 0.5) for sample in make_samples(3, seed=9)]
    alone.step("shared", [Share(items, 1.0, 10.0)])
    both = Learner(model_dir, {"shared": 1e-3}, TrainConfig())
    both.step("shared", [Share(items, 1.0, 10.0), Share(other, 0.0, 10.0)])
    assert states_equal(alone, both)


def test_a_kl_term_pulls_towards_the_starting_policy(model_dir: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(model_dir, moved)
    run(model_dir, TrainConfig(), batches=3).save(moved)
    samples = make_samples(12)
    flat = [
        Sample(s.group, s.group, s.ids, s.mask, s.logprobs, 0.5, s.temperature, s.version)
        for s in samples
    ]
    start = Learner(model_dir, {}, TrainConfig()).logprobs(flat)

    def distance(learner: Learner) -> float:
        return sum(
            float((a - b).abs().sum()) for a, b in zip(learner.logprobs(flat), start, strict=True)
        )

    config = TrainConfig(kl=1.0, solver_updates=1)
    learner = Learner(moved, {"solver": 1e-3, "designer": 1e-3}, config)
    before = distance(learner)
    for _ in range(5):
        batches = {"solver": Batch(tuple(flat)), "designer": Batch(())}
        learn(learner, batches, 1, model_dir)  # type: ignore[arg-type]
    assert distance(learner) < 0.9 * before


def test_a_better_than_average_reply_becomes_likelier(model_dir: Path) -> None:
    config = TrainConfig(solver_updates=1, solver_rate=1e-3)
    learner = Learner(model_dir, {"solver": 1e-3, "designer": 1e-3}, config)
    samples = make_samples(8)
    before = learner.logprobs(samples)
    fresh = [
        Sample(s.group, s.group, s.ids, s.mask, logprobs_of(s, logp), s.reward, s.temperature, 0)
        for s, logp in zip(samples, before, strict=True)
    ]
    batches = {"solver": Batch(tuple(fresh)), "designer": Batch(())}
    learn(learner, batches, 0, model_dir)  # type: ignore[arg-type]
    gained = [float((a - b).sum()) for a, b in zip(learner.logprobs(fresh), before, strict=True)]
    means = {g: sum(s.reward for s in fresh if s.group == g) / 4 for g in {s.group for s in fresh}}
    agreement = sum(
        gain * (sample.reward - means[sample.group])
        for gain, sample in zip(gained, fresh, strict=True)
    )
    assert agreement > 0


def logprobs_of(sample: Sample, logp: torch.Tensor) -> tuple[float, ...]:
    values = iter(logp.tolist())
    return tuple(next(values) if sampled else 0.0 for sampled in sample.mask)


def test_a_damaged_optimiser_says_what_mends_it(model_dir: Path, tmp_path: Path) -> None:
    shutil.copytree(model_dir, tmp_path, dirs_exist_ok=True)
    (tmp_path / "optimiser.state").write_bytes(b"half")
    with pytest.raises(BadInput, match="remove the folder to train that version again"):
        Learner(tmp_path, {"solver": 1e-3}, TrainConfig())


def test_both_roles_pull_equally_however_many_samples_each_has(model_dir: Path) -> None:
    """The shared step's gradient is that of SPADE's one sum with the designer's rewards scaled."""
    plays, designs = make_samples(24), make_samples(4, seed=9, group=2)
    # A length for all: `dr_grpo` then weighs samples alone, as the method's scale does.
    config = TrainConfig(
        optimiser="shared", aggregation="dr_grpo", solver_updates=1, grad_clip=1e9, weight_decay=0
    )

    def gradient(solver: list[Sample], designer: list[Sample]) -> torch.Tensor:
        learner = Learner(model_dir, {"shared": 0.0}, config)
        learn(
            learner,
            {"solver": Batch(tuple(solver)), "designer": Batch(tuple(designer))},
            0,
            model_dir,
        )
        return torch.cat([value.grad.flatten() for value in learner.model.parameters()])

    once = gradient(plays, designs)
    assert torch.allclose(gradient(plays * 3, designs), once, atol=1e-6)
    assert torch.allclose(gradient(plays, designs * 3), once, atol=1e-6)
    scale = len(plays) / len(designs)
    both = Learner(model_dir, {"one": 0.0}, config)
    advantages = [
        centred([s.reward for s in of], [s.baseline for s in of]) for of in (plays, designs)
    ]
    items = [
        Item(sample, value * factor)
        for of, values, factor in ((plays, advantages[0], 1.0), (designs, advantages[1], scale))
        for sample, value in zip(of, values, strict=True)
    ]
    both.step("one", [Share(items, 1.0, len(items) * config.dr_grpo_tokens)])
    summed = torch.cat([value.grad.flatten() for value in both.model.parameters()])
    assert torch.allclose(summed * len(items) / len(plays), once, atol=1e-6)


def test_a_few_designs_pull_less_than_thousands_of_plays() -> None:
    assert pull(1.0, 4, 200) == 1.0
    assert pull(0.5, 4, 400) == 0.25
    assert pull(1.0, 4, 0) == 1.0 and pull(1.0, 0, 9) == 0.0


def test_forward_passes_in_bfloat16_give_nearly_the_same_gradient(model_dir: Path) -> None:
    norms = []
    for dtype in ("float32", "bfloat16"):
        policy = PolicyConfig(dtype=dtype)  # type: ignore[arg-type]
        learner = Learner(model_dir, {"solver": 1e-3}, TrainConfig(), policy=policy)
        items = [Item(sample, sample.reward - 0.5) for sample in make_samples(8)]
        norms.append(learner.step("solver", [Share(items, 1.0, 50.0)])[1])
        assert all(value.dtype == torch.float32 for value in learner.model.parameters())
    assert norms[0] != norms[1] and norms[0] == pytest.approx(norms[1], rel=0.05)


def test_a_gpu_that_is_not_there_is_one_clear_line(model_dir: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(BadInput, match="torch sees no GPU"):
        Learner(model_dir, {}, TrainConfig(), policy=PolicyConfig(device="cuda"))


def test_a_home_keeps_its_optimisers(model_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "version"
    shutil.copytree(model_dir, folder)
    run(model_dir, TrainConfig()).save(folder)
    with pytest.raises(BadInput, match=r'trained with train.optimiser = "separate".* --home'):
        Learner(folder, {"shared": 1e-3}, TrainConfig(optimiser="shared"))


@pytest.mark.parametrize(
    ("policy", "role", "importance"),
    [
        (PolicyConfig(), "solver", (math.exp(0.2) + 1) / 2),
        (PolicyConfig(engine="vllm"), "solver", math.exp(0.2)),
        (PolicyConfig(), "designer", math.exp(0.2)),
    ],
)
def test_what_another_engine_recorded_is_corrected_in_every_part(
    policy: PolicyConfig, role: Role, importance: float, model_dir: Path
) -> None:
    """Two parts of equal size; all that was recorded is 0.2 nats off what the trainer computes."""
    config = TrainConfig(optimiser="shared", solver_updates=2)
    learner = Learner(model_dir, {"shared": 1e-9}, config, policy=policy)
    samples = []
    for number in range(4):
        ids, mask = (5, 6, 7, 8 + number), (0, 1, 1, 1)
        made = Sample("g", "g", ids, mask, (0.0,) * 4, float(number % 2), 1.0, 0)
        (logp_N,) = learner.logprobs([made])
        samples.append(replace(made, logprobs=(0.0, *(logp_N - 0.2).tolist())))
    batches: dict[Role, Batch] = {"solver": Batch(()), "designer": Batch(())}
    found = learn(learner, batches | {role: Batch(tuple(samples))}, 0, model_dir)[role]
    assert found.importance == pytest.approx(importance, rel=1e-4)


def test_samples_that_only_the_kl_term_trains_dilute_no_figure(model_dir: Path) -> None:
    mixed = make_samples(8)
    flat = [replace(one, group="flat", baseline="flat", reward=0.5) for one in make_samples(8, 1)]
    batches: dict[Role, Batch] = {"solver": Batch((*mixed, *flat)), "designer": Batch(())}
    found = []
    for kl in (0.0, 0.1):
        config = TrainConfig(kl=kl, solver_updates=1)
        learner = Learner(model_dir, {"solver": 1e-9, "designer": 1e-9}, config)
        found.append(learn(learner, batches, 0, model_dir)["solver"])
    without, pulled = found
    assert pulled.positions > without.positions and pulled.trained == without.trained == 8
    assert pulled.tokens_trained == without.tokens_trained == sum(one.tokens for one in mixed)
    for name in ("importance", "importance_cut_share", "kl_behaviour", "entropy"):
        assert getattr(pulled, name) == pytest.approx(getattr(without, name), rel=1e-4), name
