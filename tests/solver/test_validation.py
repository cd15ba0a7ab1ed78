"""A policy version is whole and the same model as its parent before anybody can see it."""

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from solver.config import PolicyConfig, TrainConfig
from solver.learner import Learner
from solver.validation import INDEX, check_successor, check_weights, read_tokenizer, stop_ids
from solver.versions import PolicyInfo, Versions
from spadekit.errors import BadInput, OurFault


@pytest.fixture
def child(model_dir: Path, tmp_path: Path) -> Path:
    """A sound successor: the model, with other values."""
    folder = tmp_path / "child"
    shutil.copytree(model_dir, folder)
    change(folder, lambda weights: {name: value + 0.1 for name, value in weights.items()})
    return folder


def change(folder: Path, how: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    path = folder / "model.safetensors"
    save_file(how(load_file(path)), path, metadata={"format": "pt"})


def edit(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def split(folder: Path) -> dict[str, str]:
    """Write the weights as two parts and their index; return the index's map."""
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(weights)
    where = {
        name: f"model-0000{1 + number % 2}-of-00002.safetensors"
        for number, name in enumerate(names)
    }
    for part in set(where.values()):
        save_file({name: weights[name] for name in names if where[name] == part}, folder / part)
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": where}))
    return where


def test_a_sound_successor_passes_whole_or_in_parts(child: Path, model_dir: Path) -> None:
    check_successor(child, model_dir)
    split(child)
    check_successor(child, model_dir)


def test_what_the_trainer_saves_follows_a_model_that_other_hands_saved(
    model_dir: Path, tmp_path: Path
) -> None:
    parent, child = tmp_path / "parent", tmp_path / "child"
    shutil.copytree(model_dir, parent)
    shutil.copytree(model_dir, child)
    config = json.loads((parent / "config.json").read_text())
    # As older libraries wrote it, the tied layer saved as well, and no file about generation.
    config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]
    (parent / "config.json").write_text(json.dumps(config | {"transformers_version": "4.40"}))
    (parent / "generation_config.json").unlink()
    change(parent, lambda w: w | {"lm_head.weight": w["model.embed_tokens.weight"].clone()})
    Learner(parent, {"shared": 0.0}, TrainConfig()).save(child)
    check_successor(child, parent)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda w: w | {"model.norm.weight": torch.ones(7)}, r"norm\.weight has shape \(7,\)"),
        (lambda w: w | {"extra": torch.ones(1)}, r"extra has shape .*, in model\S* none"),
        (lambda w: {k: v for k, v in w.items() if "norm" not in k}, "has shape none"),
        (lambda w: w | {"model.norm.weight": torch.full((48,), torch.nan)}, "not finite"),
        (lambda w: w | {"model.norm.weight": torch.full((48,), torch.inf)}, "not finite"),
    ],
)
def test_other_tensors_and_ones_that_are_no_numbers_are_refused(
    child: Path, model_dir: Path, damage: Any, message: str
) -> None:
    change(child, damage)
    with pytest.raises(BadInput, match=message):
        check_successor(child, model_dir)


def test_each_file_is_there_and_as_long_as_its_header_says(child: Path) -> None:
    where = split(child)
    first, second = (child / name for name in sorted(set(where.values())))
    data = first.read_bytes()
    for damaged in (data[:-1], data + b"0", data[:5], b""):
        first.write_bytes(damaged)
        with pytest.raises(BadInput, match=rf"{first.name} is damaged"):
            check_weights(child)
    first.write_bytes(data)
    second.rename(child / "elsewhere")
    with pytest.raises(BadInput, match=rf"is to be in {second.name} by {INDEX} and is in no file"):
        check_weights(child)
    (child / "elsewhere").rename(second)
    (child / INDEX).write_text("{}")
    with pytest.raises(BadInput, match="is no index"):
        check_weights(child)
    (child / INDEX).unlink()
    with pytest.raises(BadInput, match=f"holds {first.name}, .*{INDEX} beside its parts"):
        check_weights(child)
    first.unlink()
    second.unlink()
    with pytest.raises(BadInput, match="no weights"):
        check_weights(child)


def test_another_configuration_is_refused(child: Path, model_dir: Path) -> None:
    edit(child / "config.json", rms_norm_eps=1e-3)
    with pytest.raises(BadInput, match="another `rms_norm_eps`"):
        check_successor(child, model_dir)


def test_ids_that_would_mean_something_else_are_refused(child: Path, model_dir: Path) -> None:
    tokenizer = json.loads((child / "tokenizer.json").read_text())
    text = (child / "tokenizer.json").read_text()
    (child / "tokenizer.json").write_text(json.dumps(tokenizer))  # other bytes, the same tokenizer
    check_successor(child, model_dir)
    vocabulary = tokenizer["model"]["vocab"]
    one, other = [name for name in vocabulary if len(name) == 1][:2]
    vocabulary[one], vocabulary[other] = vocabulary[other], vocabulary[one]
    (child / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(BadInput, match="another vocabulary"):
        check_successor(child, model_dir)
    (child / "tokenizer.json").write_text(text)
    (child / "chat_template.jinja").write_text("{{ messages }}")
    with pytest.raises(BadInput, match="another chat template"):
        check_successor(child, model_dir)
    shutil.copyfile(model_dir / "chat_template.jinja", child / "chat_template.jinja")
    edit(child / "generation_config.json", eos_token_id=7)
    with pytest.raises(BadInput, match="end with other token ids"):
        check_successor(child, model_dir)


def test_what_does_not_pass_is_never_seen(child: Path, model_dir: Path, tmp_path: Path) -> None:
    versions = Versions(tmp_path / "policy")
    versions.bootstrap(PolicyConfig(model=str(model_dir)))
    change(child, lambda weights: {name: value * torch.nan for name, value in weights.items()})

    def write(folder: Path) -> None:
        shutil.copytree(child, folder, dirs_exist_ok=True)

    with pytest.raises(OurFault, match=r"version 1 was not published: v000001/model\.safetensors"):
        versions.publish(PolicyInfo(1, 0, 1, 1, "", {}, {}), write)
    assert [entry.name for entry in versions.root.iterdir()] == ["v000000"]


def test_python_that_lies_in_a_model_folder_is_neither_run_nor_asked_about(
    child: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def agree(text: str = "") -> str:
        asked.append(text)
        return "y"

    monkeypatch.setattr("builtins.input", agree)
    ran = child / "ran"
    (child / "mine.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    own = {"AutoTokenizer": ["mine.Tokenizer", None], "AutoConfig": "mine.Config"}
    (child / "tokenizer_config.json").write_text(json.dumps({"auto_map": own}))
    edit(child / "config.json", auto_map=own)
    with contextlib.suppress(BadInput):
        read_tokenizer(child)
    assert not asked and not ran.exists()


def test_ids_that_are_no_ids_are_refused(child: Path) -> None:
    edit(child / "generation_config.json", eos_token_id="x")
    with pytest.raises(BadInput, match="eos_token_id is 'x'"):
        stop_ids(child)
