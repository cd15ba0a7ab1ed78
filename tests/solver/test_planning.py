"""What a step plays is decided from what was measured and what earlier steps saw, and from nothing else."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory import EnvironmentRecord, MemoryConfig, StandingRecord, Store, measure
from solver.config import TrainConfig
from solver.curriculum import LOOK_AGAIN, Choice, State
from solver.planning import Plan, observed, plan_after, standings_of, write_curriculum
from solver.versions import PolicyInfo, Versions
from tests import records
from tests.records import play

CONFIG = TrainConfig(groups=6, group=4, replay=0.34, instances=2)
NUMBER = 10


def environment(number: int, shard: int) -> EnvironmentRecord:
    return records.environment(f"# {number} of {shard}", shard, policy_version=0)


def publish(store: Store, shard: int, version: int) -> list[EnvironmentRecord]:
    """Publish a shard whose environments are all at the frontier of the version that designed it."""
    made = [environment(number, shard) for number in range(NUMBER)]
    standings = []
    for one in made:
        plays = [play(one.id, seed, seed % 2, version) for seed in range(8)]
        plays += [play(one.id, seed, 1.0, version, "hinted") for seed in range(8)]
        standings.append(measure(one.id, version, plays, shard))
    store.publish(shard, made, [], [], standings, meta={"policy_version": version})
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", MemoryConfig(), create=True) as opened:
        yield opened


def parent(version: int) -> PolicyInfo:
    return PolicyInfo(version, version - 1, version, version, "", {}, {})


def saw(step: Plan, returns: dict[str, float | None], otherwise: float | None = 0.5) -> State:
    """The state after a step whose plays of an environment all returned the same."""
    version = step.parent.version
    return observed(
        step,
        [
            play(job.environment, job.seed, returns.get(job.environment, otherwise), version)
            for job in step.jobs
        ],
    )


def test_a_step_is_the_same_before_and_after_the_next_shards_are_published(store: Store) -> None:
    """A producer beside the trainer designs shard n + 1 with the parent of step n, or an older one."""
    publish(store, 1, 0)
    publish(store, 2, 0)
    first = plan_after(store, parent(0), State(), CONFIG, 1)
    state = saw(first, {})
    before = plan_after(store, parent(1), state, CONFIG, 2)
    assert before.choice.counts() == {"frontier": 4, "replayed": 2}
    publish(store, 3, 1)
    publish(store, 4, 1)
    after = plan_after(store, parent(1), state, CONFIG, 2)
    assert (after.jobs, after.environments) == (before.jobs, before.environments)
    assert (after.choice, after.state) == (before.choice, before.state)
    assert after == before


def test_a_step_that_is_done_again_after_its_plays_were_logged_chooses_the_same(
    store: Store,
) -> None:
    made = publish(store, 1, 0)
    before = plan_after(store, parent(0), State(), CONFIG, 1)
    measured = store.latest_standings()
    seen = [play(job.environment, job.seed, 0.0, 0) for job in before.jobs]
    store.append_plays([replace(one, id=f"{n}") for n, one in enumerate(seen)])
    assert plan_after(store, parent(0), State(), CONFIG, 1) == before
    # What was measured with both arms stays what it was.
    assert store.latest_standings() == measured
    assert {one.status for one in measured.values()} == {"frontier"} and len(measured) == len(made)


def test_one_instance_closes_nothing_and_three_close_it_until_it_is_looked_at_again(
    store: Store,
) -> None:
    made = publish(store, 1, 0)
    hard, broken = made[0].id, made[1].id
    state, played = State(), {hard: list[int](), broken: list[int]()}
    for version in range(30):
        # The same shard again and again: every environment has its turn.
        config = replace(CONFIG, groups=NUMBER, instances=1)
        step = plan_after(store, parent(version), state, config, 1)
        for name, versions in played.items():
            if name in step.choice.environments:
                versions.append(version)
        state = saw(step, {hard: 0.0, broken: None})
        if version == 3:
            assert step.choice.left_out == {"faulting": 1, "hopeless": 1}
    looked = [versions[3:] for versions in played.values()]
    assert [versions[:3] for versions in played.values()] == [[0, 1, 2]] * 2
    # One look a step, so they take turns.
    assert sorted(looked) == [
        [2 + LOOK_AGAIN, 2 + 2 * LOOK_AGAIN, 2 + 3 * LOOK_AGAIN],
        [3 + LOOK_AGAIN, 3 + 2 * LOOK_AGAIN, 3 + 3 * LOOK_AGAIN],
    ]


def test_a_brief_is_told_what_was_measured_and_what_the_steps_before_its_version_closed(
    store: Store, tmp_path: Path
) -> None:
    made = publish(store, 1, 0)
    easy, hard, broken, once = (one.id for one in made[:4])
    versions, state = Versions(tmp_path / "policy"), State()
    config = replace(CONFIG, groups=NUMBER, instances=1)
    for version in range(4):
        step = plan_after(store, parent(version), state, config, 1)
        returns = {easy: 0.9, hard: 0.1, broken: None, once: 1.0 if version == 1 else 0.5}
        state = saw(step, returns)
        versions.path(version + 1).mkdir(parents=True)
        write_curriculum(versions.path(version + 1), Choice(), state)
    measured = store.latest_standings()
    for version in (0, 1, 2):
        assert standings_of(store, versions, version) == measured
    told = standings_of(store, versions, 3)
    assert told.keys() == measured.keys() - {broken}
    assert {name for name in told if told[name] != measured[name]} == {easy, hard}
    one: StandingRecord = told[easy]
    assert (one.status, one.policy_version, one.plays_unhinted) == ("mastered", 2, 12)
    assert one.return_unhinted == pytest.approx(0.9) and math.isnan(one.regret)
    assert told[hard].status == "hopeless"
    # A round is designed with version 3 beside step 4, which measures nothing and writes nothing.
    publish(store, 2, 2)
    assert standings_of(store, versions, 3).keys() == told.keys() | {
        one.id for one in store.environments(shard=2)
    }
    again = replace(measured[easy], policy_version=3, updated=9)
    store.upsert_standings([again])
    assert standings_of(store, versions, 3)[easy] == again, "a later measurement counts"
    assert standings_of(store, versions, 2)[easy] == measured[easy]
