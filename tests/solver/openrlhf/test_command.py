"""The command line, read by OpenRLHF's own parser out of its own wheel."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from solver.config import SolverConfig, TrainConfig
from solver.openrlhf.command import Places, arguments, gpus
from solver.openrlhf.config import ClusterConfig
from solver.openrlhf.layout import layout
from solver.openrlhf.probe import WANTED
from spadekit.errors import BadInput
from spadekit.settings import Settings, load
from spadework import RECIPES, SECTIONS

ROOT = Path(__file__).parents[3]
WHEELS = ROOT / "build" / "openrlhf"
PARSE = ROOT / "tests" / "openrlhf" / "parse.py"
PLACES = Places(
    Path("/home/policy/v000000"),
    Path("/run/slots.jsonl"),
    Path("/run/agent.py"),
    Path("/state"),
    Path("/run/final"),
)
FETCH = (
    *("download", "--quiet", "--no-deps", "--only-binary", ":all:"),
    *("--platform", "manylinux1_x86_64", "--python-version", "3.11"),
)


@pytest.fixture(scope="session")
def wheel() -> Path:
    """OpenRLHF's wheel, which `make setup` fetches: pure Python, on every platform the same file."""
    WHEELS.mkdir(parents=True, exist_ok=True)
    with (WHEELS / "lock").open("wb") as lock:  # test workers fetch it once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (found := sorted(WHEELS.glob(f"openrlhf-{WANTED}-*.whl"))):
            command = [sys.executable, "-m", "pip", *FETCH, "--dest", str(WHEELS)]
            subprocess.run([*command, f"openrlhf=={WANTED}"], check=True, timeout=120)
            found = sorted(WHEELS.glob(f"openrlhf-{WANTED}-*.whl"))
    return found[0]


@pytest.fixture(scope="session")
def parse(wheel: Path) -> Callable[[list[str]], dict[str, Any]]:
    """Have OpenRLHF read a command line, with its own checks; returns what it read."""
    code = wheel / f"openrlhf-{WANTED}.data" / "purelib"

    def run(argv: list[str]) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, str(PARSE), *argv],
            env=os.environ | {"PYTHONPATH": str(code)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return told

    return run


def command(settings: Settings, resumes: bool = False) -> list[str]:
    return arguments(settings, layout(settings, False), PLACES, resumes=resumes)


def recipes() -> list[Path]:
    found = []
    for path in sorted(RECIPES.glob("*.toml")):
        try:
            layout(load(path, (), SECTIONS), False)
        except BadInput:
            continue  # a recipe for one machine
        found.append(path)
    return found


def test_its_own_parser_takes_the_command_line_and_reads_what_was_meant(
    configured: Callable[..., Settings], parse: Callable[[list[str]], dict[str, Any]]
) -> None:
    settings = configured()
    told = parse(command(settings))
    train, solver = settings.section(TrainConfig), settings.section(SolverConfig)
    assert told["algo"]["advantage"]["estimator"] == "dr_grpo"
    assert told["algo"]["advantage"]["is_correction_level"] == "token"
    assert told["algo"]["advantage"]["is_correction_mode"] == "clip"
    assert told["algo"]["advantage"]["is_correction_threshold"] == [0.0, train.importance_cap]
    assert told["actor"]["eps_clip_low_high"] == [train.clip_low, train.clip_high]
    assert told["actor"]["adam"] == {
        "lr": train.solver_rate,
        "betas": [train.beta1, train.beta2],
        "eps": 1e-8,
        "weight_decay": train.weight_decay,
    }
    assert (told["actor"]["lr_warmup_ratio"], told["actor"]["lr_scheduler"]) == (0.0, "constant")
    assert told["rollout"]["temperature"] == solver.temperature
    assert told["rollout"]["n_samples_per_prompt"] == train.group
    assert told["reward"]["remote_url"] == ["agent"]
    assert told["ckpt"]["save_hf"] and told["ckpt"]["save_steps"] == 1
    assert not told["ckpt"]["load_enable"]


def test_every_step_of_a_rollout_gets_equal_shares_of_its_samples(
    configured: Callable[..., Settings], parse: Callable[[list[str]], dict[str, Any]]
) -> None:
    settings = configured("cluster.rollouts=2", "train.solver_updates=4")
    told = parse(command(settings))
    assert told["rollout"]["batch_size"] == 4 / 2 + 2
    assert told["train"]["batch_size"] == (4 / 2 + 2) * 4 / 2
    assert told["ckpt"]["save_steps"] == 2


def test_only_a_launch_that_goes_on_reads_the_state_and_none_runs_out_of_episodes(
    configured: Callable[..., Settings], parse: Callable[[list[str]], dict[str, Any]]
) -> None:
    told = [parse(command(configured(), resumes=resumes)) for resumes in (False, True)]
    assert [one["ckpt"]["load_enable"] for one in told] == [False, True]
    assert all(one["train"]["num_episodes"] >= 10**9 for one in told)


def test_a_kl_term_is_a_loss_against_a_reference_on_the_same_gpus(
    configured: Callable[..., Settings], parse: Callable[[list[str]], dict[str, Any]]
) -> None:
    told = parse(command(configured("train.kl=0.005")))
    assert told["algo"]["kl"]["init_coef"] == 0.005 and told["algo"]["kl"]["use_loss"]
    assert told["algo"]["kl"]["estimator"] == "k3"
    assert told["ref"]["num_gpus_per_node"] == told["actor"]["num_gpus_per_node"] == 1
    assert parse(command(configured()))["algo"]["kl"]["init_coef"] == 0.0


def test_engines_take_turns_with_the_trainer_or_have_gpus_of_their_own(
    configured: Callable[..., Settings], parse: Callable[[list[str]], dict[str, Any]]
) -> None:
    shared = parse(command(configured()))
    assert shared["train"]["colocate_all"] and shared["vllm"]["enable_sleep"]
    apart = configured("cluster.colocate=false", "cluster.engines=3", "cluster.tensor_parallel=2")
    told = parse(command(apart))
    assert not told["train"]["colocate_all"] and not told["ds"]["enable_sleep"]
    assert told["vllm"]["num_engines"] == 3 and told["vllm"]["tensor_parallel_size"] == 2
    assert gpus(apart.section(ClusterConfig)) == 1 + 6 and gpus(ClusterConfig()) == 8


@pytest.mark.parametrize("recipe", recipes(), ids=lambda path: path.stem)
def test_every_recipe_for_a_cluster_is_one_that_openrlhf_takes(
    recipe: Path, parse: Callable[[list[str]], dict[str, Any]]
) -> None:
    settings = load(recipe, (), SECTIONS)
    told = parse(command(settings))
    assert told["data"]["max_len"] == settings.section(ClusterConfig).context
