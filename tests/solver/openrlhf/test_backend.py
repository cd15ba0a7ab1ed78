"""A whole run: shards in, policy versions out; refused, ended, gone on with. OpenRLHF is a stand-in."""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from memory import DesignRecord, EnvironmentRecord, Store, environment_id
from solver.config import PolicyConfig
from solver.openrlhf.backend import go_on_from, lineage, steps
from solver.openrlhf.checkpoint import Checkpoints
from solver.openrlhf.refusals import open_chat
from solver.versions import Versions
from spadekit.errors import BadInput, OurFault
from spadekit.settings import Settings

GAME = '''
class {name}Env:
    """Say many vowels."""
    def reset(self, seed=None):
        self.turn = 0
        return "say something", {{}}
    def step(self, action):
        self.turn += 1
        vowels = sum(char in "aeiou" for char in action)
        return f"{{vowels}} so far", min(1.0, vowels / 10), self.turn == 2, False, {{}}
'''
STAND_IN = Path(__file__).parent / "stand_in.py"
ROOT = Path(__file__).parents[3]
Configured = Callable[..., Settings]


def environment(name: str, shard: int) -> EnvironmentRecord:
    source = GAME.format(name=name)
    texts = ("Say many vowels.", "", source, "say aeiou", "")
    return EnvironmentRecord(
        environment_id("game", source, "say aeiou"),
        shard,
        "game",
        ("language_understanding",),
        *texts,
        1,
        "{}",
        shard - 1,
        (),
        *("", "", name, name, "nsjail", "{}"),
    )


def design(number: int, shard: int) -> DesignRecord:
    return DesignRecord(
        id=f"design-{shard}-{number}",
        shard=shard,
        brief="{}",
        group=f"brief-{number // 3}",
        prompt_ids=(3, 30, 31, 32, 4),
        ids=(40 + number, 50, 60 + number, 70, 1),
        logprobs=(-3.0, -2.0, -4.0, -3.0, -1.0),
        text="",
        text_only=False,
        temperature=0.7,
        seed=number,
        policy_version=shard - 1,
        outcome="refused",
        stage="read",
        reason="no_code",
        detail="",
        environment="",
        reward=(number % 3) / 2,
    )


class Home:
    """A home with two shards and version 0."""

    def __init__(self, folder: Path, model: Path, python: str) -> None:
        self.folder, self.python = folder, python
        self.versions = Versions(folder / "policy")
        self.versions.bootstrap(PolicyConfig(model=str(model)))
        self.notes: list[str] = []
        with Store.open(folder / "store", create=True) as store:
            for shard in (1, 2):
                made = [environment(f"{name}{shard}", shard) for name in ("Good", "Fine")]
                designs = [design(number, shard) for number in range(6)]
                store.publish(shard, made, designs, [], [], meta={"policy_version": shard - 1})

    async def train(self, settings: Settings, *work: tuple[int, int]) -> list[Any]:
        made = []
        with Store.open(self.folder / "store") as store:
            opened = steps(store, self.versions, settings, self.folder, self.notes.append, work)
            async with opened as step:
                for shard, version in work:
                    made.append(await step(shard, version))
        return made

    def state(self) -> Path:
        (found,) = (self.folder / "cluster").glob("state-*")
        return found


@pytest.fixture
def python(tmp_path: Path) -> str:
    """An interpreter that says it has OpenRLHF and a GPU, and runs the stand-in."""
    path = tmp_path / "python"
    path.write_text(
        f"""#!/bin/sh
case "$1" in
  -m) shift 2; PYTHONPATH={ROOT} exec {sys.executable} {STAND_IN} "$@" ;;
  *) echo '{{"missing": "", "gpus": 1}}' ;;
esac
"""
    )
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def home(tmp_path: Path, model_dir: Path, python: str) -> Home:
    return Home(tmp_path / "home", model_dir, python)


@pytest.fixture
def chosen(configured: Configured, python: str) -> Configured:
    """Settings of a run on the stand-in."""

    def read(*overrides: str) -> Settings:
        fixed = (
            *("cluster.rollouts=2", "train.solver_updates=2", "train.instances=2"),
            f"cluster.python={python}",
        )
        return configured(*fixed, *overrides)

    return read


async def test_one_launch_makes_a_version_of_every_shard_and_the_next_goes_on(
    home: Home, chosen: Configured
) -> None:
    made = await home.train(chosen(), (1, 1), (2, 2))
    assert [(one["version"], one["parent"], one["shard"]) for one in made] == [(1, 0, 1), (2, 1, 2)]
    for figures in made:
        assert figures["plays"]["count"] == 16 and figures["plays"]["faulted"] == 0
        assert figures["solver"]["samples"] == 16 and figures["designer"]["samples"] == 6
        assert figures["seconds"]["play"] is None and figures["seconds"]["total"] > 0
        assert figures["designer"]["trained"] == 6 and figures["openrlhf"]["actor_grad_norm"] == 0.5
    before, after = (load_file(home.versions.path(n) / "model.safetensors") for n in (0, 2))
    assert all(not before[name].equal(after[name]) for name in before)
    assert home.versions.validate(2).step == 4

    with Store.open(home.folder / "store") as store:
        plays = [play for one in store.environments() for play in store.plays(one.id)]
    assert len(plays) == 32 and {play.policy_version for play in plays} == {0, 1}
    assert {play.purpose for play in plays} == {"train"}

    assert not list(home.state().glob("*_hf"))
    left = {path.name for path in (home.folder / "cluster" / "run-0001").iterdir()}
    assert left == {"agent.py", "command.txt", "log.txt", "slots.jsonl", "spec.json"}

    # What a launch that was killed did beyond its last version is done again.
    for name in ("global_step6_hf", "_actor/global_step6"):
        (home.state() / name).mkdir()
    (home.state() / "_actor" / "latest").write_text("global_step6")
    (third,) = await home.train(chosen(), (1, 3))
    assert third["version"] == 3 and home.versions.validate(3).step == 6
    assert (home.state() / "_actor" / "latest").read_text() == "global_step6"
    assert any("optimiser's state of version 2 (global step 4)" in note for note in home.notes)


async def test_a_run_killed_before_its_version_is_there_goes_on_from_the_one_before(
    home: Home, chosen: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    await home.train(chosen(), (1, 1))

    def power_cut(*_: Any) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr(home.versions, "publish", power_cut)
    with pytest.raises(RuntimeError, match="power cut"):
        await home.train(chosen(), (2, 2))
    monkeypatch.undo()
    known = json.loads((home.state() / "versions.json").read_text())
    assert home.versions.all() == [0, 1] and known["steps"] == {"1": 2, "2": 4}
    (again,) = await home.train(chosen(), (2, 2))
    assert again["version"] == 2
    assert "optimiser's state of version 1 (global step 2)" in " ".join(home.notes[-4:])


def edit(path: str, old: str, new: str) -> None:
    Path(path).write_text(Path(path).read_text().replace(old, new))


async def test_one_that_ends_without_a_version_is_our_fault_and_says_why(
    home: Home, chosen: Configured, python: str
) -> None:
    edit(python, "shift 2;", "echo 'ValueError: no'; exit 1;")
    with pytest.raises(OurFault, match=r"ended without version 1: ValueError: no \(exit code 1"):
        await home.train(chosen(), (1, 1))
    assert home.versions.all() == [0]


async def test_a_run_in_which_nothing_can_be_played_ends_and_publishes_nothing(
    home: Home, chosen: Configured
) -> None:
    broken = chosen("sandbox.python=/nowhere/python3")
    with pytest.raises(OurFault, match="version 1: . of 4 groups could not be played: .*python"):
        await home.train(broken, (1, 1))
    assert home.versions.all() == [0]


def republish(home: Home, change: Callable[[DesignRecord], DesignRecord]) -> None:
    with Store.open(home.folder / "store") as store:
        designs = [change(design(number, 3)) for number in range(6)]
        store.publish(3, [environment("Third", 3)], designs, [], [], meta={})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"text_only": True}, "shard 3 has 6 designs without token ids"),
        ({"brief": '{"likeliest": {}}'}, "shard 3 has 6 designs sampled with top_p or top_k"),
        ({"temperature": 0.9}, "temperature 0.9, but OpenRLHF has one temperature"),
        ({"ids": (400, 1, 1, 1, 1)}, "token id 400, but the model has 400"),
    ],
)
async def test_designs_that_openrlhf_cannot_take_are_refused_before_it_starts(
    home: Home, chosen: Configured, change: dict[str, Any], told: str
) -> None:
    republish(home, lambda one: replace(one, **change))
    with pytest.raises(BadInput, match=told):
        await home.train(chosen(), (1, 1), (3, 2))
    assert not (home.folder / "cluster").exists() and home.versions.all() == [0]


async def test_a_missing_shard_is_refused_before_it_starts(home: Home, chosen: Configured) -> None:
    with pytest.raises(BadInput, match="shard 7"):
        await home.train(chosen(), (7, 1))
    assert not (home.folder / "cluster").exists()


def without_template(model: Path, bare: Path) -> Path:
    shutil.copytree(model, bare, ignore=shutil.ignore_patterns("*.jinja"))
    config = json.loads((bare / "tokenizer_config.json").read_text())
    config.pop("chat_template", None)
    (bare / "tokenizer_config.json").write_text(json.dumps(config))
    return bare


def test_a_model_without_a_chat_template_is_refused(
    chosen: Configured, tmp_path: Path, model_dir: Path
) -> None:
    bare = without_template(model_dir, tmp_path / "bare")
    with pytest.raises(BadInput, match="no chat template"):
        open_chat(bare, chosen())


def test_a_model_without_weights_is_refused(
    chosen: Configured, tmp_path: Path, model_dir: Path
) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(model_dir, bare, ignore=shutil.ignore_patterns("*.safetensors"))
    with pytest.raises(BadInput, match="has no weights: a model behind an endpoint"):
        open_chat(bare, chosen())


async def test_a_context_beyond_the_models_positions_is_refused(
    home: Home, chosen: Configured
) -> None:
    with pytest.raises(BadInput, match=r"cluster.context = 600, but the model .* 512 positions"):
        await home.train(chosen("cluster.context=600"), (1, 1))


@pytest.fixture
def kept(tmp_path: Path) -> Checkpoints:
    """States of a launch that made version 3 with its fourth global step, beside those of other settings."""
    (tmp_path / "cluster" / "state-other").mkdir(parents=True)
    made = Checkpoints(tmp_path / "cluster" / "state-mine")
    made.begin(0)
    (made.root / "_actor" / "global_step4").mkdir(parents=True)
    made.note(3, 4)
    return made


def test_training_goes_on_from_the_state_of_the_newest_version_only(
    kept: Checkpoints, chosen: Configured
) -> None:
    notes: list[str] = []
    assert go_on_from(kept, 3, chosen(), notes.append) == 4
    assert (kept.root / "_actor" / "latest").read_text() == "global_step4"
    assert go_on_from(kept, 4, chosen(), notes.append) == 0
    assert kept.first() == 4 and "begins afresh from the weights of version 4" in notes[-1]
    assert [path.name for path in kept.root.parent.iterdir()] == ["state-mine"]


def test_a_state_that_is_not_to_be_kept_is_not_gone_on_from(
    kept: Checkpoints, chosen: Configured
) -> None:
    assert go_on_from(kept, 3, chosen("cluster.keep_optimiser=false"), lambda _: None) == 0
    assert kept.first() == 3


def test_a_kl_term_keeps_its_starting_point_or_is_refused(
    kept: Checkpoints, chosen: Configured
) -> None:
    assert go_on_from(kept, 3, chosen("train.kl=0.01"), lambda _: None) == 4
    with pytest.raises(BadInput, match="train.kl pulls to version 0"):
        go_on_from(kept, 4, chosen("train.kl=0.01"), lambda _: None)
    assert kept.first() == 0 and go_on_from(kept, 0, chosen("train.kl=0.01"), lambda _: None) == 0


def test_other_settings_or_gpus_have_a_state_of_their_own(configured: Configured) -> None:
    names = {
        lineage(configured(one))
        for one in (
            *("cluster.silence_s=5", "train.solver_rate=1e-5", "cluster.context=301"),
            *("cluster.zero_stage=3", "solver.max_tokens=9"),
        )
    }
    assert len(names) == 5 and lineage(configured()) in names
