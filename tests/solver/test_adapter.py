"""Low-rank adapters: what is trained, what a version holds, and going on from it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from solver.config import PolicyConfig, TrainConfig
from solver.engines.local import LocalEngine
from solver.learner import Item, Learner, Share
from solver.weights import load_model
from spadekit.errors import BadInput
from tests.solver.rollouts import make_samples

CONFIG = TrainConfig(lora_rank=4, lora_alpha=8)
RATES = {"solver": 1e-2}


def trained(folder: Path, base: Path, config: TrainConfig = CONFIG, steps: int = 1) -> Learner:
    learner = Learner(folder, RATES, config, base=base)
    for number in range(steps):
        items = [Item(sample, sample.reward - 0.5) for sample in make_samples(8, seed=number)]
        learner.step("solver", [Share(items, 1.0, 50.0)])
    return learner


def version(learner: Learner, parent: Path, folder: Path) -> Path:
    shutil.copytree(parent, folder)
    learner.save(folder)
    return folder


def test_only_the_adapter_is_trained_and_a_version_holds_whole_weights(
    model_dir: Path, tmp_path: Path
) -> None:
    learner = trained(model_dir, model_dir)
    names = [name for name, value in learner.model.named_parameters() if value.requires_grad]
    assert len(names) == 2 * 7 * 2 and all("lora_" in name for name in names)
    folder = version(learner, model_dir, tmp_path / "v1")
    before, after = (load_file(where / "model.safetensors") for where in (model_dir, folder))
    assert before.keys() == after.keys()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert moved == {name for name in before if "_proj" in name}


def test_a_rank_above_the_width_of_every_layer_is_refused(model_dir: Path) -> None:
    with pytest.raises(BadInput, match=r"train\.lora_rank = 1000000 exceeds the width"):
        Learner(model_dir, RATES, TrainConfig(lora_rank=1_000_000))


def test_the_version_says_what_the_learner_says_and_the_local_engine_serves_it(
    model_dir: Path, tmp_path: Path
) -> None:
    learner = trained(model_dir, model_dir, steps=3)
    folder = version(learner, model_dir, tmp_path / "v1")
    samples = make_samples(6)
    plain = Learner(model_dir, {}, TrainConfig()).other(folder).logprobs(samples)
    for ours, whole in zip(learner.logprobs(samples), plain, strict=True):
        assert torch.allclose(ours, whole, atol=1e-5)
    engine = LocalEngine.open(folder, PolicyConfig())
    engine.close()


def test_going_on_from_a_version_equals_never_having_stopped(
    model_dir: Path, tmp_path: Path
) -> None:
    whole = trained(model_dir, model_dir, steps=2)
    folder = version(trained(model_dir, model_dir, steps=1), model_dir, tmp_path / "v1")
    second = Learner(folder, RATES, CONFIG, base=model_dir)
    items = [Item(sample, sample.reward - 0.5) for sample in make_samples(8, seed=1)]
    second.step("solver", [Share(items, 1.0, 50.0)])
    ours, theirs = second.model.state_dict(), whole.model.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    paths = [
        version(one, model_dir, tmp_path / name) for name, one in (("a", whole), ("b", second))
    ]
    for name in ("model.safetensors", "optimiser.state"):
        assert (paths[0] / name).read_bytes() == (paths[1] / name).read_bytes()


def test_a_home_goes_on_with_the_adapter_it_was_begun_with(model_dir: Path, tmp_path: Path) -> None:
    folder = version(trained(model_dir, model_dir), model_dir, tmp_path / "v1")
    for other in (replace(CONFIG, lora_rank=2), replace(CONFIG, lora_alpha=9), TrainConfig()):
        with pytest.raises(
            BadInput, match=r"trained with .*train.lora_rank = 4, train.lora_alpha = 8"
        ):
            Learner(folder, RATES, other, base=model_dir)
    full = version(Learner(model_dir, RATES, TrainConfig()), model_dir, tmp_path / "full")
    with pytest.raises(BadInput, match=r"trained with .*train.lora_rank = 0 and cannot"):
        Learner(full, RATES, CONFIG, base=model_dir)
    (folder / "optimiser.state").unlink()
    with pytest.raises(BadInput, match=r"optimiser\.state is missing"):
        Learner(folder, RATES, CONFIG, base=model_dir)


def test_weights_that_the_configuration_asks_for_and_the_files_lack_are_not_made_up(
    model_dir: Path, tmp_path: Path
) -> None:
    shutil.copytree(model_dir, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "config.json"
    path.write_text(path.read_text().replace('"num_hidden_layers": 2', '"num_hidden_layers": 3'))
    with pytest.raises(BadInput, match=r"have no model\.layers\.2"):
        load_model(tmp_path)
