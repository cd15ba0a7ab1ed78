"""Folders that OpenRLHF writes: whole or not, the right model or not, kept or removed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from solver.openrlhf.checkpoint import Checkpoints, check_config, fill, missing
from spadekit.errors import OurFault


@pytest.fixture
def written(model_dir: Path, tmp_path: Path) -> Path:
    """A model folder in two parts, as OpenRLHF leaves it for a larger model."""
    folder = tmp_path / "global_step1_hf"
    shutil.copytree(model_dir, folder)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(weights)
    parts = {
        "model-00001-of-00002.safetensors": names[:3],
        "model-00002-of-00002.safetensors": names[3:],
    }
    for part, own in parts.items():
        save_file({name: weights[name] for name in own}, folder / part, metadata={"format": "pt"})
    index = {"weight_map": {name: part for part, own in parts.items() for name in own}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4])


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("model-00002-of-00002.safetensors", Path.unlink),
        ("model-00002-of-00002.safetensors", cut_short),
        ("model.safetensors.index.json", Path.unlink),
        ("model.safetensors.index.json", cut_short),
        ("config.json", Path.unlink),
        ("config.json", cut_short),
    ],
)
def test_a_folder_is_whole_only_when_every_file_is(
    written: Path, name: str, damage: Callable[[Path], None]
) -> None:
    assert missing(written) == ""
    damage(written / name)
    assert missing(written)


def test_a_folder_that_is_not_there_is_not_whole(tmp_path: Path) -> None:
    assert missing(tmp_path / "global_step1_hf")


def test_another_model_is_not_published(written: Path, model_dir: Path) -> None:
    check_config(written, model_dir)
    config = json.loads((written / "config.json").read_text())
    loose = config | {"pad_token_id": 3, "transformers_version": "5.15.0", "dtype": "bfloat16"}
    (written / "config.json").write_text(json.dumps(loose))
    check_config(written, model_dir)
    (written / "config.json").write_text(json.dumps(config | {"num_attention_heads": 2}))
    with pytest.raises(OurFault, match="num_attention_heads"):
        check_config(written, model_dir)


def test_a_version_has_the_new_weights_readable_by_all_and_the_rest_of_its_parent(
    written: Path, model_dir: Path, tmp_path: Path
) -> None:
    parent, target = tmp_path / "parent", tmp_path / "target"
    shutil.copytree(model_dir, parent)
    (parent / "policy.json").write_text("{}")
    (written / "tokenizer_config.json").write_text('{"written": "by another library"}')
    for path in written.glob("*.safetensors"):
        path.chmod(0o600)
    target.mkdir()
    fill(target, written, parent, leave={"policy.json"})
    assert {path.name for path in target.glob("model*")} == {
        path.name for path in written.glob("model*")
    }
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in target.glob("*.safetensors"))
    same = ("tokenizer_config.json", "config.json", "tokenizer.json")
    assert all((target / name).read_bytes() == (parent / name).read_bytes() for name in same)
    assert not (target / "policy.json").exists()


def launch(root: Path, *steps: int) -> None:
    """Leave behind what a launch that came to these steps does."""
    for step in steps:
        (root / f"global_step{step}_hf").mkdir(parents=True)
        (root / "_actor" / f"global_step{step}").mkdir(parents=True)
        (root / "_actor" / "latest").write_text(f"global_step{step}")


def test_the_next_launch_goes_on_from_the_newest_version_not_from_what_was_written_after_it(
    tmp_path: Path,
) -> None:
    kept = Checkpoints(tmp_path / "state")
    assert kept.first() is None and kept.step_of(4) is None
    kept.begin(4)
    launch(kept.root, 2, 4, 6)
    kept.note(5, 2)
    kept.note(6, 4)
    again = Checkpoints(kept.root)
    assert (again.first(), again.step_of(5), again.step_of(6), again.step_of(7)) == (4, 2, 4, None)
    again.rewind(4)
    assert (again.root / "_actor" / "latest").read_text() == "global_step4"
    assert not again.model(6).exists() and not (again.root / "_actor" / "global_step6").exists()
    assert again.model(4).exists()


def test_a_version_whose_state_was_rotated_away_is_not_gone_on_from(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path / "state")
    kept.begin(0)
    launch(kept.root, 1, 2)
    kept.note(1, 1)
    shutil.rmtree(kept.root / "_actor" / "global_step1")
    assert kept.step_of(1) is None


def test_model_folders_that_became_versions_are_removed(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path / "state")
    kept.begin(0)
    launch(kept.root, 1, 2, 3)
    kept.prune(2)
    assert [path.name for path in sorted(kept.root.glob("*_hf"))] == ["global_step3_hf"]
    assert (kept.root / "_actor" / "global_step2").exists()
