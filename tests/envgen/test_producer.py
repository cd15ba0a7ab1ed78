"""The producer and the loop with the policy that ships: real designs, real jails, real kills."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memory import DesignRecord, PlayRecord, Store
from tests.zygote import Command, zygote

SMALL = (
    *("--set", "producer.designs=6"),
    *("--set", "producer.designs_per_brief=2"),
    *("--set", "probe.plays=2"),
    *("--set", "train.groups=2"),
    *("--set", "train.group=4"),
)


Start = Callable[..., Command]


@pytest.fixture(scope="module")
def spadework(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start a command with small settings in a home."""
    with zygote(tmp_path_factory.mktemp("output")) as server:
        yield lambda home, *arguments: server.spadework(*arguments, "--home", str(home), *SMALL)


@pytest.fixture(scope="module")
def run(spadework: Start) -> Callable[..., Any]:
    """Run a command to its good end and return what it prints as JSON."""

    def start(home: Path, *arguments: str) -> Any:
        command = spadework(home, *arguments, "--json")
        assert command.wait() == 0, command.err.read_text()
        return json.loads(command.out.read_text())

    return start


Run = Callable[..., Any]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    """A home with two rounds of self-play."""
    home = tmp_path_factory.mktemp("unbroken")
    run(home, "loop", "--rounds", "2")
    return home


def design(record: DesignRecord) -> tuple[object, ...]:
    return (record.id, record.ids, record.outcome, record.stage, record.environment, record.reward)


def play(record: PlayRecord) -> tuple[object, ...]:
    return (record.id, record.ids, record.mask, record.episode_return, record.fault)


def contents(home: Path, shard: int) -> tuple[object, ...]:
    """What a shard says, but for log-probabilities (float noise of another batch) and times."""
    with Store.open(home / "store") as store:
        data = store.shard(shard)
    return (
        [record.id for record in data.environments],
        [design(record) for record in data.designs],
        [play(record) for record in data.plays],
    )


def test_a_round_publishes_every_design_with_tokens_and_every_environment_with_plays(
    unbroken: Path,
) -> None:
    with Store.open(unbroken / "store") as store:
        assert store.verify() == []
        assert [manifest.shard for manifest in store.shards()] == [1, 2]
        data = store.shard(1)
    assert len(data.designs) == 6
    groups = [record.group for record in data.designs]
    assert sorted(set(groups)) == ["000001-000", "000001-001", "000001-002"]
    for record in data.designs:
        assert len(record.ids) == len(record.logprobs) > 0
        assert all(logprob <= 0 for logprob in record.logprobs)
        assert (record.reward is None) == (record.outcome in ("duplicate", "faulted"))
    for environment in data.environments:
        plays = [one for one in data.plays if one.environment == environment.id]
        assert sorted((one.arm) for one in plays) == ["hinted"] * 2 + ["unhinted"] * 2
        assert len({one.seed for one in plays}) == 2
        assert all(sum(one.mask) > 0 for one in plays if not one.fault)
        assert json.loads(environment.certificate)["accepted"]


def test_designs_of_a_later_round_come_from_the_weights_trained_on_the_earlier(
    unbroken: Path,
) -> None:
    versions = sorted(path.name for path in (unbroken / "policy").iterdir())
    assert versions == ["v000000", "v000001", "v000002"]
    with Store.open(unbroken / "store") as store:
        assert {record.policy_version for record in store.shard(1).designs} == {0}
        assert {record.policy_version for record in store.shard(2).designs} == {1}
    first, second = (
        (unbroken / "policy" / v / "model.safetensors").read_bytes() for v in versions[1:]
    )
    assert first != second


def test_a_finished_loop_run_again_changes_nothing_and_says_the_same(
    unbroken: Path, run: Run
) -> None:
    before = {path: path.stat().st_mtime_ns for path in (unbroken / "policy").rglob("*")}
    first = run(unbroken, "loop", "--rounds", "2")
    assert run(unbroken, "loop", "--rounds", "2") == first
    assert before == {path: path.stat().st_mtime_ns for path in (unbroken / "policy").rglob("*")}


def test_rounds_are_meant_in_all_so_a_command_run_again_makes_none_more(
    unbroken: Path, run: Run
) -> None:
    summaries = run(unbroken, "generate", "--rounds", "2")
    assert [one["round"] for one in summaries] == [1, 2]
    assert [one["round"] for one in run(unbroken, "generate", "--rounds", "1")] == [1]
    with Store.open(unbroken / "store") as store:
        assert [manifest.shard for manifest in store.shards()] == [1, 2]


def journalled(home: Path, number: int, lines: int) -> Callable[[], bool]:
    path = home / "runs" / "main" / "rounds" / f"{number:06d}.jsonl"
    return lambda: path.exists() and path.read_bytes().count(b"\n") >= lines


def test_a_loop_killed_at_every_stage_ends_like_an_unbroken_one(
    unbroken: Path, tmp_path: Path, spadework: Start, run: Run
) -> None:
    home = tmp_path / "home"
    stages = {
        "designed": journalled(home, 1, 7),
        "played": journalled(home, 1, 14),
        "published": (home / "store" / "shards" / "000001" / "manifest.json").exists,
        "trained": (home / "policy" / "v000001" / "policy.json").exists,
        "certified in the next round": journalled(home, 2, 10),
    }
    for stage, reached in stages.items():
        command = spadework(home, "loop", "--rounds", "2")
        while not reached():
            assert command.alive, f"ended before it was {stage}: {command.err.read_text()}"
            time.sleep(0.002)
        command.kill()
    summaries = run(home, "loop", "--rounds", "2")
    assert summaries[0]["seconds"]["tries"] >= 2
    with Store.open(home / "store") as store:
        assert store.verify() == []
        identities = [environment.id for environment in store.environments()]
    assert len(identities) == len(set(identities))
    assert contents(home, 1) == contents(unbroken, 1)
    assert contents(home, 2) == contents(unbroken, 2)


def test_a_damaged_weights_file_is_one_clear_line(
    unbroken: Path, tmp_path: Path, spadework: Start
) -> None:
    home = tmp_path / "home"
    (home / "policy").mkdir(parents=True)
    broken = home / "policy" / "v000000"
    subprocess.run(["cp", "-r", unbroken / "policy" / "v000000", broken], check=True)
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    command = spadework(home, "generate")
    assert command.wait() == 2
    assert command.out.read_text() == ""
    error = command.err.read_text()
    assert error.count("\n") == 1
    assert "model.safetensors" in error
    assert not (home / "store" / "shards").exists()


def test_a_damaged_line_of_a_round_is_one_clear_line(tmp_path: Path, spadework: Start) -> None:
    journal = tmp_path / "home/runs/main/rounds/000001.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_text("{}\n")
    command = spadework(tmp_path / "home", "generate")
    assert command.wait() == 2
    error = command.err.read_text()
    assert "000001.jsonl: line 1 is damaged (without 'kind')" in error
    assert "Traceback" not in error
    assert journal.read_text() == "{}\n"


def test_a_home_that_cannot_be_written_is_one_clear_line(tmp_path: Path, spadework: Start) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    command = spadework(blocked, "generate")
    assert command.wait() == 2
    error = command.err.read_text()
    assert error.count("\n") == 1
    assert str(blocked) in error


def test_no_document_is_drawn_twice_before_all_were_and_a_shard_says_how_far_it_drew(
    unbroken: Path,
) -> None:
    with Store.open(unbroken / "store") as store:
        manifests = store.shards()
        briefs = [
            {json.dumps(json.loads(one.brief)) for one in store.shard(number).designs}
            for number in (1, 2)
        ]
    asked = [json.loads(brief) for shard in briefs for brief in shard]
    assert len({brief["document"] for brief in asked}) == len(asked) == 6
    assert sum(manifests[0].meta["drawn"].values()) == 3
    assert sum(manifests[1].meta["drawn"].values()) == 6
    assert all(brief["prompt"].startswith("short-") for brief in asked)
