"""The policy directory: whole versions or none, and damage that names its file."""

import json
import resource
import shutil
import signal
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from solver.config import PolicyConfig
from solver.versions import PolicyInfo, Versions
from solver.weights import copy_weights, load_model, read_weights
from spadekit.errors import BadInput


@pytest.fixture
def versions(tmp_path: Path, model_dir: Path) -> Versions:
    made = Versions(tmp_path / "policy")
    made.bootstrap(PolicyConfig(model=str(model_dir)))
    return made


def publish(versions: Versions, version: int) -> Path:
    source = versions.path(0)

    def write(folder: Path) -> None:
        for entry in source.iterdir():
            if entry.name != "policy.json":
                shutil.copyfile(entry, folder / entry.name)

    info = PolicyInfo(version, 0, version, version, "abc", {}, {"loss": 0.5})
    return versions.publish(info, write)


def test_version_0_is_a_valid_copy_of_the_model_and_made_once(
    versions: Versions, model_dir: Path
) -> None:
    info = versions.validate(0)
    assert (info.version, info.parent, info.step, info.shard) == (0, None, 0, None)
    weights = load_file(versions.path(0) / "model.safetensors")
    assert weights.keys() == load_file(model_dir / "model.safetensors").keys()
    before = (versions.path(0) / "policy.json").stat().st_mtime_ns
    versions.bootstrap(PolicyConfig(model=str(model_dir)))
    assert (versions.path(0) / "policy.json").stat().st_mtime_ns == before


def test_a_home_goes_on_with_no_other_model_than_its_own(
    versions: Versions, model_dir: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(model_dir, other)
    weights = {
        name: value + 1 for name, value in load_file(model_dir / "model.safetensors").items()
    }
    save_file(weights, other / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInput, match=f"begun with the model {model_dir}.* another --home"):
        versions.bootstrap(PolicyConfig(model=str(other)))
    with pytest.raises(BadInput, match="not those of embedded"):
        versions.bootstrap(PolicyConfig())
    moved = tmp_path / "moved"
    shutil.copytree(model_dir, moved)
    assert versions.bootstrap(PolicyConfig(model=str(moved))) == versions.path(0)


def test_published_versions_are_found_in_order(versions: Versions) -> None:
    publish(versions, 1)
    publish(versions, 12)
    assert versions.all() == [0, 1, 12]
    assert versions.latest() == 12
    assert versions.read(12).metrics == {"loss": 0.5}
    assert versions.validate(12).digests.keys() >= {"model.safetensors", "config.json"}


def test_half_written_and_foreign_folders_are_not_versions(versions: Versions) -> None:
    (versions.root / ".v000003.abcd").mkdir()
    (versions.root / "v3").mkdir()
    (versions.root / "v00000x").mkdir()
    (versions.root / "v000004").write_text("a file")
    assert versions.all() == [0]


def test_a_write_that_fails_leaves_nothing(versions: Versions) -> None:
    def write(folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        versions.publish(PolicyInfo(1, 0, 1, 1, "", {}, {}), write)
    assert sorted(entry.name for entry in versions.root.iterdir()) == ["v000000"]


def test_a_published_version_is_never_replaced(versions: Versions) -> None:
    publish(versions, 1)
    with pytest.raises(BadInput, match="already there"):
        publish(versions, 1)


def test_damage_names_the_file_and_what_to_do(versions: Versions) -> None:
    path = publish(versions, 1) / "model.safetensors"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(
        BadInput, match=r"v000001/model\.safetensors is damaged .* remove the folder"
    ):
        versions.validate(1)
    path.unlink()
    with pytest.raises(BadInput, match=r"model\.safetensors is missing"):
        versions.validate(1)


def test_a_version_knows_its_parents_weights_and_is_refused_beside_others(
    versions: Versions,
) -> None:
    publish(versions, 1)
    assert versions.read(0).parent_weights == ""
    assert versions.validate(1).parent_weights == versions.read(0).weights
    others = {0: ("digests", {"model.safetensors": "0" * 64}), 1: ("parent_weights", "")}
    for number, (name, value) in others.items():
        path = versions.path(number) / "policy.json"
        before = path.read_text()
        path.write_text(json.dumps(json.loads(before) | {name: value}))
        with pytest.raises(
            BadInput, match="v000001 was made from other weights than those that v000000"
        ):
            versions.validate(1)
        path.write_text(before)
    shutil.rmtree(versions.path(0))  # a version is good without its parents
    assert versions.validate(1).version == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}'])
def test_a_damaged_policy_json_is_refused(versions: Versions, text: str) -> None:
    (publish(versions, 1) / "policy.json").write_text(text)
    with pytest.raises(BadInput, match=r"policy\.json is damaged"):
        versions.read(1)


def test_what_is_not_there_is_named(versions: Versions, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"version 5 is not in .* it holds 0 to 0"):
        versions.read(5)
    with pytest.raises(BadInput, match="holds no policy version"):
        Versions(tmp_path / "empty").latest()


def test_a_model_that_cannot_be_used_is_refused_before_anything_is_written(
    tmp_path: Path, model_dir: Path
) -> None:
    versions = Versions(tmp_path / "policy")
    with pytest.raises(BadInput, match="no model there"):
        versions.bootstrap(PolicyConfig(model=str(tmp_path / "none")))
    broken = tmp_path / "broken"
    shutil.copytree(model_dir, broken)
    (broken / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(BadInput, match=r"model\.safetensors is damaged"):
        versions.bootstrap(PolicyConfig(model=str(broken)))
    (broken / "config.json").write_text(json.dumps({"model_type": "no such thing"}))
    shutil.copyfile(model_dir / "model.safetensors", broken / "model.safetensors")
    with pytest.raises(BadInput, match="cannot be loaded"):
        versions.bootstrap(PolicyConfig(model=str(broken)))
    assert not versions.root.exists() or not list(versions.root.iterdir())


def test_weights_of_another_shape_change_nothing(
    versions: Versions, model_dir: Path, tmp_path: Path
) -> None:
    model = load_model(model_dir)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(BadInput, match=r"model\.safetensors is missing"):
        copy_weights(tmp_path, read_weights(tmp_path), model)
    assert all(bool((model.state_dict()[name] == value).all()) for name, value in before.items())


def test_a_disk_that_is_full_is_one_line_and_leaves_nothing(
    versions: Versions, model_dir: Path
) -> None:
    def write(folder: Path) -> None:
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
        try:
            save_file(load_file(model_dir / "model.safetensors"), folder / "model.safetensors")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            signal.signal(signal.SIGXFSZ, handler)

    before = sorted(versions.root.iterdir())
    with pytest.raises(BadInput, match="cannot be written: .*large"):
        versions.publish(PolicyInfo(9, None, 0, None, "", {}, {}), write)
    assert sorted(versions.root.iterdir()) == before
