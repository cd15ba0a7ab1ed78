"""Training with the real OpenRLHF (Ray, DeepSpeed, vLLM) on a CPU: `make test-openrlhf`, not `make test`.

A tiny model designs and plays a real shard, OpenRLHF trains both roles on it, and its policy versions are
served by the engine of this package. What a CPU cannot exercise is listed in ``cpu/sitecustomize.py``.
"""

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from memory import Store
from sandbox import Message
from solver.config import PolicyConfig
from solver.engines.local import LocalEngine
from solver.manifest import SHIPPED
from solver.policy import Sampling
from solver.samples import Sample, from_designs, from_plays
from solver.versions import Versions
from solver.weights import load_model

ROOT = Path(__file__).parents[2]
PYTHON = Path(os.environ.get("OPENRLHF_PYTHON", ROOT / "build" / "openrlhf-cpu" / "bin" / "python"))
VARIABLES = {
    "PYTHONPATH": str(ROOT / "tests" / "openrlhf" / "cpu"),
    "DS_ACCELERATOR": "cpu",
    "MAX_JOBS": "2",
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_OVERRIDE_RESOURCES": '{"CPU": 16, "GPU": 2}',
    "RAY_USAGE_STATS_ENABLED": "0",
    "TOKENIZERS_PARALLELISM": "false",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
}
SETTINGS = {
    "producer.designs": 12,
    "producer.designs_per_brief": 3,
    "probe.plays": 6,
    "train.optimiser": "shared",
    "train.groups": 6,
    "train.group": 4,
    "train.solver_updates": 4,
    "train.solver_rate": 3e-4,
    "train.kl": 0,
    "solver.temperature": 0.7,
    "cluster.colocate": "false",
    "cluster.gpus": 1,
    "cluster.engines": 1,
    "cluster.gpu_memory": 0.1,
    "cluster.enforce_eager": "true",
    "cluster.attention": "eager",
    "cluster.packing": "false",
    "cluster.gradient_checkpointing": "false",
    "cluster.micro_batch": 4,
    "cluster.context": 1024,
    "cluster.rollouts": 2,
    "cluster.design_rows": 5,
}
PATIENCE_S = 1800


def spadework(home: Path, *arguments: str, **overrides: Any) -> Any:
    """Run a command of the front door in this home; returns what it prints as JSON."""
    chosen = SETTINGS | {key.replace("__", "."): value for key, value in overrides.items()}
    sets = [word for key, value in chosen.items() for word in ("--set", f"{key}={value}")]
    command = [str(Path(sys.executable).parent / "spadework"), *arguments, "--json"]
    done = subprocess.run(
        [*command, "--home", str(home), *sets],
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, f"{arguments} ended with {done.returncode}"
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter that has OpenRLHF, with what makes it run on a CPU."""
    assert PYTHON.exists(), f"{PYTHON} is missing: `make test-openrlhf` makes it"
    path = tmp_path_factory.mktemp("bin") / "python"
    variables = " ".join(f"{key}='{value}'" for key, value in VARIABLES.items())
    path.write_text(f'#!/bin/sh\nexec env {variables} {PYTHON.absolute()} "$@"\n')
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded policy with an output layer of its own.

    vLLM on a CPU packs a tied one once, when it starts, and would go on with it after a switch.
    """
    folder = tmp_path_factory.mktemp("model") / "untied"
    shutil.copytree(SHIPPED, folder)
    weights = load_file(folder / "model.safetensors")
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}))
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, model: Path, python: Path) -> Iterator[Path]:
    """A home with two shards, and two policy versions that one launch of OpenRLHF made of them."""
    folder = tmp_path_factory.mktemp("home")
    common = {"policy__model": model, "cluster__python": python}
    spadework(folder, "generate", "--rounds", "2", **common)
    made = spadework(folder, "train", "--backend", "openrlhf", **common)
    assert [one["version"] for one in made] == [1, 2]
    yield folder


@pytest.fixture(scope="module")
def versions(home: Path) -> Versions:
    return Versions(home / "policy")


def metrics(versions: Versions, version: int) -> dict[str, Any]:
    return dict(versions.read(version).metrics)


def samples(home: Path, role: str, shard: int) -> list[Sample]:
    """What a role was trained on for a version of the shard's number."""
    with Store.open(home / "store") as store:
        data = store.shard(shard)
        if role == "designer":
            return list(from_designs(data.designs, shard - 1, 4).samples)
        plays = [
            play
            for one in data.environments
            for play in store.plays(one.id)
            if play.purpose == "train" and play.policy_version == shard - 1
        ]
    return list(from_plays(plays).samples)


def logprob(model: Any, sample: Sample) -> float:
    """The log-probability (nats) of a sample's sampled tokens at its temperature."""
    with torch.no_grad():
        logits = model(torch.tensor([sample.ids])).logits[0, :-1] / sample.temperature
    chosen = logits.log_softmax(-1).gather(1, torch.tensor(sample.ids[1:])[:, None])[:, 0]
    return float((chosen * torch.tensor(sample.mask[1:])).sum())


def test_every_version_is_whole_and_follows_the_one_before(versions: Versions) -> None:
    assert versions.all() == [0, 1, 2]
    for version in (1, 2):
        info = versions.validate(version)
        assert (info.parent, info.shard, info.step) == (version - 1, version, 2 * version)


def test_weights_changed_in_every_version(versions: Versions) -> None:
    weights = [load_file(versions.path(n) / "model.safetensors") for n in (0, 1, 2)]
    for before, after in itertools.pairwise(weights):
        moved = [
            name for name in before if not torch.equal(before[name].float(), after[name].float())
        ]
        assert len(moved) > len(before) / 2


@pytest.mark.parametrize("version", [1, 2])
def test_both_roles_had_samples_with_gradients_in_one_update(
    versions: Versions, version: int
) -> None:
    told = metrics(versions, version)
    assert told["solver"]["trained"] > 0 and told["designer"]["trained"] > 0
    logged = told["openrlhf"]
    assert 0 < logged["role_designer"] < 1 and logged["actor_grad_norm"] > 0
    assert logged["actor_lr"] == pytest.approx(SETTINGS["train.solver_rate"])


@pytest.mark.parametrize("role", ["solver", "designer"])
def test_a_role_moved_towards_what_paid_more(home: Path, versions: Versions, role: str) -> None:
    found = samples(home, role, 1)
    means: dict[str, list[float]] = {}
    for one in found:
        means.setdefault(one.baseline, []).append(one.reward)
    before, after = (load_model(versions.path(n)).eval() for n in (0, 1))
    gain = sum(
        (one.reward - sum(means[one.baseline]) / len(means[one.baseline]))
        * (logprob(after, one) - logprob(before, one))
        for one in found
    )
    assert gain > 0


@pytest.mark.parametrize("version", [1, 2])
def test_what_the_engine_said_of_a_token_is_what_the_trainer_says(
    versions: Versions, version: int
) -> None:
    assert abs(metrics(versions, version)["openrlhf"]["vllm_kl"]) < 0.05


def test_plays_are_in_the_store_with_the_version_that_played(
    home: Path, versions: Versions
) -> None:
    for shard in (1, 2):
        played = samples(home, "solver", shard)
        told = metrics(versions, shard)["plays"]
        assert 0 < len(played) <= told["count"] <= 6 * 4
        assert all(any(one.mask) and len(one.ids) == len(one.logprobs) for one in played)


def test_recorded_log_probabilities_of_plays_are_the_parents_own(
    home: Path, versions: Versions
) -> None:
    parent = load_model(versions.path(0)).eval()
    found = samples(home, "solver", 1)[:8]
    tokens = sum(one.tokens for one in found)
    apart = sum(logprob(parent, one) - sum(one.logprobs) for one in found)
    assert abs(apart / tokens) < 0.1


async def test_the_local_engine_serves_what_openrlhf_made(versions: Versions) -> None:
    engine = LocalEngine.open(versions.path(0), PolicyConfig())
    await engine.load(versions.path(2))
    assert engine.version == 2
    prompt = engine.chat.start([Message("user", "design game\nskill memory_recall\nlevel 1")])
    got = await engine.complete(prompt, Sampling(0.7, 64, 0))
    assert got.version == 2 and "class" in engine.chat.decode(got.ids)
    engine.close()


def test_the_next_launch_goes_on_with_the_optimisers_state(
    home: Path, versions: Versions, model: Path, python: Path
) -> None:
    common = {"policy__model": model, "cluster__python": python}
    made = spadework(home, "train", "--backend", "openrlhf", "--steps", "1", **common)
    assert [one["version"] for one in made] == [3]
    info = versions.validate(3)
    assert (info.parent, info.step) == (2, 6)
    before, after = (load_file(versions.path(n) / "model.safetensors") for n in (2, 3))
    assert any(not torch.equal(before[name].float(), after[name].float()) for name in before)
    state = next((home / "cluster").glob("state-*"))
    assert (state / "_actor" / "latest").read_text() == "global_step6"


def test_nothing_is_left_over(home: Path) -> None:
    state = next((home / "cluster").glob("state-*"))
    assert not list(state.glob("*_hf"))
    assert {path.name for path in (state / "_actor").glob("global_step*")} == {
        "global_step4",
        "global_step6",
    }
    left = {path.name for path in (home / "cluster" / "run-0001").iterdir()}
    assert left == {"agent.py", "command.txt", "log.txt", "slots.jsonl", "spec.json"}
