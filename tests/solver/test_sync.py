"""The schedule of two processes: numbers and settings decide, no clock does."""

import asyncio
from pathlib import Path

import pytest

from solver import sync
from solver.config import PolicyConfig, SyncConfig, TrainConfig
from solver.versions import PolicyInfo, Versions
from spadekit.errors import BadInput


@pytest.mark.parametrize(
    ("max_ahead", "every", "designers"),
    [
        (1, 1, [0, 1, 2, 3, 4, 5, 6]),
        (2, 1, [0, 0, 1, 2, 3, 4, 5]),
        (4, 1, [0, 0, 0, 0, 1, 2, 3]),
        (1, 3, [0, 0, 0, 3, 3, 3, 6]),
        (2, 3, [0, 0, 0, 0, 3, 3, 3]),
    ],
)
def test_each_shard_has_the_version_that_designs_it(
    max_ahead: int, every: int, designers: list[int]
) -> None:
    config = SyncConfig(every=every, max_ahead=max_ahead)
    assert [sync.designs(shard, config) for shard in range(1, 8)] == designers
    for shard, version in enumerate(designers, 1):
        # Once the trainer is near enough the version is there, and not a step before.
        newest = next(newest for newest in range(9) if not sync.missing(shard, newest, config))
        assert version <= newest == max(0, shard - max_ahead)
        assert shard - 1 - version <= max_ahead - 1 + every - 1


def test_how_many_versions_are_missing_is_counted_from_the_newest() -> None:
    config = SyncConfig(max_ahead=2)
    assert [sync.missing(5, newest, config) for newest in range(5)] == [3, 2, 1, 0, 0]


def test_shards_are_trained_on_in_order_and_once() -> None:
    assert sync.next_shard([1, 2, 3], [0, 1]) == 2
    assert sync.next_shard([3, 2], [0, 1]) == 2
    assert sync.next_shard([1, 2], [0, 1, 2]) is None
    assert sync.next_shard([], [0]) is None


@pytest.mark.parametrize(("max_ahead", "every"), [(6, 1), (1, 6), (3, 4)])
def test_a_schedule_by_which_any_design_is_too_old_is_refused(max_ahead: int, every: int) -> None:
    config = SyncConfig(max_ahead=max_ahead, every=every)
    assert max(shard - 1 - sync.designs(shard, config) for shard in range(1, 30)) == 5
    with pytest.raises(BadInput, match="up to 5 versions old .*max_lag = 4"):
        sync.check_lag(config, TrainConfig(max_lag=4))
    sync.check_lag(config, TrainConfig(max_lag=5))
    sync.check_lag(config, TrainConfig(max_lag=4, designer_weight=0.0))


@pytest.mark.parametrize("wrong", [{"every": 0}, {"max_ahead": 0}, {"watch_s": 0.0}])
def test_settings_that_make_no_schedule_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SyncConfig(**wrong)  # type: ignore[arg-type]


def test_a_home_whose_versions_are_not_those_of_its_shards_is_refused(
    tmp_path: Path, model_dir: Path
) -> None:
    versions = Versions(tmp_path)
    versions.bootstrap(PolicyConfig(model=str(model_dir)))
    sync.check_in_step(versions)
    versions.publish(PolicyInfo(1, None, 1, 1, "", {}, {}), lambda _: None)
    sync.check_in_step(versions)
    versions.publish(PolicyInfo(2, None, 2, 1, "", {}, {}), lambda _: None)
    with pytest.raises(BadInput, match="version 2 was trained on shard 1, not on shard 2"):
        sync.check_in_step(versions)


async def test_what_is_waited_for_is_said_once_and_not_at_all_when_it_is_there() -> None:
    said: list[str] = []
    found = iter([None, None, None, 7])
    assert await sync.until(lambda: next(found), 0.001, lambda: said.append("waiting")) == 7
    assert said == ["waiting"]
    assert await sync.until(lambda: 0, 60.0, lambda: said.append("again")) == 0
    assert said == ["waiting"]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await sync.until(lambda: None, 0.01, lambda: None)
