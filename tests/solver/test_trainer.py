"""A whole step: a shard in, a policy version out; killed, repeated and damaged."""

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path

import pytest
from safetensors.torch import load_file

from memory import DesignRecord, EnvironmentRecord, MemoryConfig, StandingRecord, Store
from sandbox import Pool, Sandbox, SandboxConfig
from solver.cli import select
from solver.config import PolicyConfig, SolverConfig, TrainConfig
from solver.engines.local import LocalEngine
from solver.metrics import RoleMetrics, left_out
from solver.planning import plan, read_curriculum, standings_of
from solver.trainer import StepResult, train_step
from solver.versions import PolicyInfo, Versions
from spadekit.errors import BadInput, OurFault
from spadekit.settings import Settings
from tests import records

GAME = '''
class {name}Env:
    """Say many vowels."""
    def reset(self, seed=None):
        self.turn = 0
        return "say something", {{}}
    def step(self, action):
        self.turn += 1
        {fault}
        vowels = sum(char in "aeiou" for char in action)
        return f"{{vowels}} so far", min(1.0, vowels / 10), self.turn == 2, False, {{}}
'''
TRAIN = TrainConfig(groups=5, group=4, solver_updates=2, solver_rate=1e-3, designer_rate=1e-3)
PATIENT = PolicyConfig(patience_s=60)
"""On a busy machine a play may dawdle: a batch cut for it would have other last bits."""
PLAYING = SolverConfig(max_tokens=10, max_turns=4, context=200, concurrency=6)


def settings(train: TrainConfig = TRAIN, digest: str = "digest") -> Settings:
    return Settings({TrainConfig: train, SolverConfig: PLAYING, PolicyConfig: PATIENT}, digest)


def environment(name: str, shard: int, fault: str = "pass") -> EnvironmentRecord:
    source = GAME.format(name=name, fault=fault)
    return records.environment(source, shard, hint="say aeiou", digest=name, fingerprint=name)


def standing(one: EnvironmentRecord, status: str) -> StandingRecord:
    return records.standing(one.id, one.policy_version, status=status, updated=one.shard)


def design(number: int, shard: int) -> DesignRecord:
    return records.design(
        number,
        shard,
        prompt_ids=(3, 30, 31, 32, 4),
        ids=(40 + number, 50, 60 + number, 70, 1),
        logprobs=(-3.0, -2.0, -4.0, -3.0, -1.0),
        reward=(number % 3) / 2,
    )


def publish(store: Store, shard: int) -> list[EnvironmentRecord]:
    """Two environments at the frontier, one that breaks when played, one that is mastered."""
    made = [
        environment(f"Good{shard}", shard),
        environment(f"Fine{shard}", shard),
        environment(f"Broken{shard}", shard, fault="raise ValueError"),
        environment(f"Known{shard}", shard),
    ]
    statuses = ("frontier", "frontier", "unmeasured", "mastered")
    standings = [standing(one, status) for one, status in zip(made, statuses, strict=True)]
    designs = [design(number, shard) for number in range(6)]
    store.publish(shard, made, designs, [], standings, meta={"policy_version": shard - 1})
    return made


@pytest.fixture
def home(tmp_path: Path, model_dir: Path) -> Callable[[str], Path]:
    """Make a home folder with two shards and version 0."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        with Store.open(folder / "store", MemoryConfig(), create=True) as store:
            publish(store, 1)
            publish(store, 2)
        Versions(folder / "policy").bootstrap(PolicyConfig(model=str(model_dir)))
        return folder

    return make


@asynccontextmanager
async def pool() -> AsyncIterator[Pool]:
    async with Sandbox(SandboxConfig()) as sandbox, Pool(sandbox) as opened:
        yield opened


async def train(
    folder: Path,
    *shards: int,
    config: TrainConfig = TRAIN,
    digest: str = "digest",
    version: int | None = None,
) -> list[StepResult]:
    """Train on shards in one process with one engine, as the loop does."""
    versions = Versions(folder / "policy")
    engine = LocalEngine.open(versions.path(versions.latest()), PATIENT)
    results = []
    with Store.open(folder / "store") as store:
        async with pool() as opened:
            for shard in shards:
                chosen = settings(config, digest)
                results.append(
                    await train_step(
                        store, engine, opened, versions, chosen, shard, version=version
                    )
                )
    engine.close()
    return results


def weights_of(folder: Path, version: int) -> dict[str, bytes]:
    where = folder / "policy" / f"v{version:06d}"
    return {
        f"{name}/{key}": value.numpy().tobytes()
        for name in ("model.safetensors", "optimiser.state")
        for key, value in load_file(where / name).items()
    }


async def test_a_step_trains_both_roles_and_goes_on_without_the_group_that_faults(
    home: Callable[[str], Path],
) -> None:
    folder = home("a")
    (result,) = await train(folder, 1)
    figures = result.metrics
    assert result.trained and (figures["version"], figures["parent"]) == (1, 0)
    assert figures["plays"]["count"] == 20 and figures["plays"]["faulted"] == 4
    assert figures["solver"]["dropped"] == {"step:raised": 4}
    assert (figures["solver"]["groups_dropped"], figures["solver"]["groups"]) == (1, 4)
    assert figures["designer"]["samples"] == 6 and figures["designer"]["groups_live"] == 2
    assert figures["solver"]["grad_norm"] > 0 and figures["designer"]["grad_norm"] > 0
    for role, dropped in (("solver", 4), ("designer", 0)):
        one = figures[role]
        assert set(one) == {field.name for field in fields(RoleMetrics)}
        assert None not in one.values() and sum(one["dropped"].values()) == dropped
        assert 0 < one["entropy"] < math.log(400) and one["length"] <= one["length_most"]
        assert 0 <= one["clip_low_share"] <= 1 and 0 <= one["clip_high_share"] <= 1
        assert 0 <= one["importance_cut_share"] <= 1 and one["lag_most"] == 0
    assert left_out(figures) == "left out of training: solver: 4 step:raised"
    assert set(figures["seconds"]) == {"play", "forward", "backward", "total"}
    info = Versions(folder / "policy").validate(1)
    assert (info.parent, info.step, info.shard, info.config) == (0, 1, 1, "digest")
    assert json.loads(json.dumps(figures)) == info.metrics
    before, after = (
        load_file(folder / "policy" / f"v00000{v}" / "model.safetensors") for v in (0, 1)
    )
    assert any(bool((before[name] != after[name]).any()) for name in before)


async def test_the_plays_of_a_step_are_in_the_stores_log(home: Callable[[str], Path]) -> None:
    folder = home("a")
    await train(folder, 1)
    with Store.open(folder / "store") as store:
        (good,) = [one for one in store.environments() if "Good1Env" in one.source]
        plays = store.plays(good.id)
    assert plays and {play.purpose for play in plays} == {"train"}
    assert all(len(play.ids) == len(play.mask) == len(play.logprobs) for play in plays)
    assert len({play.id for play in plays}) == len(plays)


async def test_a_version_that_is_there_is_not_made_again(home: Callable[[str], Path]) -> None:
    folder = home("a")
    (first,) = await train(folder, 1)
    (again,) = await train(folder, 1)
    assert not again.trained and again.version == 1
    assert again.metrics == json.loads(json.dumps(first.metrics))


async def test_old_frontier_is_replayed_and_nothing_mastered_is_played(
    home: Callable[[str], Path],
) -> None:
    folder = home("a")
    await train(folder, 1)
    versions = Versions(folder / "policy")
    with Store.open(folder / "store") as store:
        step = plan(store, versions, replace(TRAIN, replay=0.4), 2, 2)
    assert len([one for one in step.environments if one.shard == 1]) == 2
    assert not [one for one in step.environments if "Known" in one.source]
    assert len(step.jobs) == 20 and step.designs.dropped == {}


async def test_going_on_in_a_new_process_equals_never_having_stopped(
    home: Callable[[str], Path],
) -> None:
    whole, parts = home("whole"), home("parts")
    await train(whole, 1, 2)
    await train(parts, 1)
    await train(parts, 2)
    assert weights_of(whole, 1) == weights_of(parts, 1)
    assert weights_of(whole, 2) == weights_of(parts, 2)


KILLED = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_trainer import train
asyncio.run(train(Path({home!r}), 1))
"""


def _train_and_kill(folder: Path) -> None:
    """Kill a training process once its plays are in the log, before the update is done."""
    code = KILLED.format(tests=str(Path(__file__).parent), home=str(folder))
    process = subprocess.Popen([sys.executable, "-c", code])
    while process.poll() is None and not list((folder / "store" / "plays").glob("*.parquet")):
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


async def test_a_step_killed_anywhere_and_done_again_gives_the_same_version(
    home: Callable[[str], Path],
) -> None:
    whole, killed = home("whole"), home("killed")
    await train(whole, 1)
    await asyncio.to_thread(_train_and_kill, killed)
    assert Versions(killed / "policy").all() == [0]
    await train(killed, 1)
    assert weights_of(killed, 1) == weights_of(whole, 1)
    digests = [Versions(one / "policy").validate(1).digests for one in (killed, whole)]
    assert digests[0] == digests[1] and "optimiser.state" in digests[0]
    assert len(list((killed / "store" / "plays").glob("*.parquet"))) == 1


class PowerCut(Versions):
    """Versions on a machine that goes off before one is published."""

    def publish(self, info: PolicyInfo, write: Callable[[Path], None]) -> Path:
        raise RuntimeError("power cut")


WON = "return 'you won', 1.0, True, False, {}"


async def test_a_step_writes_no_standing_and_its_version_knows_what_its_plays_showed(
    tmp_path: Path, model_dir: Path
) -> None:
    """Until the version is there nothing is changed but the log of plays: done again, it plays the same."""
    folder = tmp_path / "home"
    made = [environment("Easy", 1, fault=WON), environment("Good", 1)]
    easy = made[0].id
    with Store.open(folder / "store", MemoryConfig(), create=True) as store:
        standings = [standing(one, "frontier") for one in made]
        store.publish(1, made, [design(n, 1) for n in range(6)], [], standings, meta={})
    Versions(folder / "policy").bootstrap(PolicyConfig(model=str(model_dir)))
    versions, config = Versions(folder / "policy"), replace(TRAIN, groups=6)
    engine = LocalEngine.open(versions.path(0), PolicyConfig())
    with Store.open(folder / "store") as store:
        before, measured = plan(store, versions, config, 1, 1), store.latest_standings()
        async with pool() as opened:
            with pytest.raises(RuntimeError, match="power cut"):
                await train_step(
                    store, engine, opened, PowerCut(versions.root), settings(config), 1
                )
            assert versions.latest() == 0 and len(store.plays(easy)) == 12
            assert plan(store, versions, config, 1, 1) == before
            await train_step(store, engine, opened, versions, settings(config), 1)
        assert store.latest_standings() == measured
        assert standings_of(store, versions, 0) == measured
        assert standings_of(store, versions, 1)[easy].status == "mastered"
        assert standings_of(store, versions, 1)[made[1].id] == measured[made[1].id]
    engine.close()


async def test_a_version_keeps_what_it_played_and_why(home: Callable[[str], Path]) -> None:
    folder = home("a")
    (step,) = await train(folder, 1)
    kept = json.loads((folder / "policy" / "v000001" / "curriculum.json").read_text())
    names = {one["environment"]: one["why"] for one in kept["choice"]["chosen"]}
    assert sorted(names.values()) == ["frontier", "frontier", "unmeasured"]
    assert kept["choice"]["left_out"] == {"mastered": 1}
    assert step.metrics["curriculum"] == {
        "chosen": {"frontier": 2, "unmeasured": 1},
        "left_out": kept["choice"]["left_out"],
    }
    with Store.open(folder / "store") as store:
        for name, (steps, version, groups) in kept["seen"].items():
            assert (steps, version) == (1, 0)
            plays = store.plays(name)
            assert sorted(seed for _, seed, _, _ in groups) == sorted({one.seed for one in plays})
            for by, seed, finished, episode_return in groups:
                returns = [
                    one.episode_return
                    for one in plays
                    if one.seed == seed and one.episode_return is not None
                ]
                assert (by, finished) == (0, len(returns))
                expected = sum(returns) / len(returns) if returns else None
                assert episode_return == (expected and pytest.approx(expected))


async def test_a_damaged_curriculum_is_one_line(home: Callable[[str], Path]) -> None:
    folder = home("a")
    await train(folder, 1)
    path = folder / "policy" / "v000001" / "curriculum.json"
    path.write_text("{}")
    with pytest.raises(BadInput, match=r"curriculum\.json is damaged"):
        await train(folder, 2)
    with pytest.raises(BadInput, match=r"curriculum\.json is damaged .*not a curriculum"):
        read_curriculum(path.parent)


async def test_a_killed_step_done_again_with_other_settings_logs_plays_of_its_own(
    home: Callable[[str], Path],
) -> None:
    folder = home("a")
    await asyncio.to_thread(_train_and_kill, folder)
    await train(folder, 1, config=replace(TRAIN, group=3), digest="other")
    with Store.open(folder / "store") as store:
        counts = [len(store.plays(one.id)) for one in store.environments(shard=1)]
        assert sum(counts) == 20 + 15
        assert store.verify() == []


async def test_a_shard_on_which_nothing_can_be_learnt_still_gives_a_version(
    home: Callable[[str], Path],
) -> None:
    folder = home("a")
    config = replace(TRAIN, solver_weight=0.0, designer_weight=0.0)
    (result,) = await train(folder, 1, config=config)
    assert result.metrics["plays"]["count"] == 0
    assert result.metrics["solver"]["loss"] is None
    assert result.metrics["designer"]["reward"] is None
    before, after = (
        load_file(folder / "policy" / f"v00000{v}" / "model.safetensors") for v in (0, 1)
    )
    assert all(bool((before[name] == after[name]).all()) for name in before)


async def test_missing_shards_parents_and_damage_are_one_clear_line(
    home: Callable[[str], Path],
) -> None:
    folder = home("a")
    with pytest.raises(BadInput, match="version 2 needs version 1"):
        await train(folder, 2)
    with pytest.raises(BadInput, match="9"):
        await train(folder, 9)
    path = folder / "policy" / "v000000" / "config.json"
    path.write_text(path.read_text() + " ")
    with pytest.raises(BadInput, match=r"config\.json is damaged"):
        await train(folder, 1)
    assert Versions(folder / "policy").all() == [0]


async def test_tokens_of_another_vocabulary_are_refused(
    home: Callable[[str], Path],
) -> None:
    folder = home("a")
    with Store.open(folder / "store") as store:
        strange = replace(design(0, 3), ids=(40, 400, 1), logprobs=(-1.0,) * 3, policy_version=0)
        store.publish(3, [], [strange], [], [], meta={"policy_version": 0})
        engine = LocalEngine.open(folder / "policy" / "v000000", PolicyConfig())
        async with pool() as opened:
            with pytest.raises(BadInput, match="token id 400, but the model has 400"):
                await train_step(
                    store, engine, opened, Versions(folder / "policy"), settings(), 3, version=1
                )
        engine.close()


async def test_an_update_that_explodes_is_given_up_and_nothing_is_published(
    home: Callable[[str], Path],
) -> None:
    folder = home("a")
    with pytest.raises(OurFault, match="not finite; nothing was published"):
        await train(folder, 1, config=replace(TRAIN, solver_rate=1e30))
    assert Versions(folder / "policy").all() == [0]


def test_lists_of_shards_are_read_as_those_of_releases_and_must_be_there() -> None:
    assert select("", [1, 2, 3]) == [1, 2, 3]
    assert select("3", [1, 2, 3]) == [3]
    assert select("3, 1..2", [1, 2, 3]) == [1, 2, 3]
    assert select("7..8", None) == [7, 8]
    with pytest.raises(BadInput, match="no list of shards"):
        select("1-2", [1, 2, 3])
    for absent in ("4", "2..9"):
        with pytest.raises(BadInput, match="does not exist; the store holds 1 to 3"):
            select(absent, [1, 2, 3])


async def test_a_shard_of_which_only_text_is_left_is_one_clear_line(
    home: Callable[[str], Path],
) -> None:
    folder = home("a")
    with Store.open(folder / "store") as store:
        texts = [
            replace(design(n, 3), text_only=True, prompt_ids=(), ids=(), logprobs=())
            for n in range(3)
        ]
        store.publish(3, [], texts, [], [], meta={"policy_version": 0})
    with pytest.raises(BadInput, match="nothing of shard 3 .* 3 of its designs are text only"):
        await train(folder, 3, config=replace(TRAIN, replay=0.0, solver_weight=0.0), version=1)
    assert Versions(folder / "policy").all() == [0]


async def test_an_adapter_is_trained_over_several_versions_that_engines_serve_as_they_are(
    home: Callable[[str], Path],
) -> None:
    folder = home("a")
    results = await train(folder, 1, 2, config=replace(TRAIN, lora_rank=4))
    assert [one.version for one in results] == [1, 2]
    files = [
        {entry.name for entry in (folder / "policy" / f"v00000{n}").iterdir()} for n in (0, 1, 2)
    ]
    assert files[1] == files[2] == files[0] | {"optimiser.state", "curriculum.json"}
    with pytest.raises(BadInput, match=r"set it back, or use another --home"):
        await train(folder, 1, config=TRAIN, version=3)
