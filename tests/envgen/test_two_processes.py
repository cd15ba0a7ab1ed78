"""A producer and a trainer that share a home and nothing else: real processes, real kills, any order."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory import DesignRecord, Store
from solver.versions import CURRICULUM, Versions
from spadekit.home import producing, training
from tests.zygote import Command, zygote

SMALL = (
    *("--set", "producer.designs=6"),
    *("--set", "producer.designs_per_brief=2"),
    *("--set", "probe.plays=2"),
    *("--set", "train.groups=2"),
    *("--set", "train.group=4"),
    *("--set", "sync.watch_s=0.02"),
)
ROUNDS = 3
PRODUCE = ("generate", "--follow", "--rounds", str(ROUNDS), "--json")
TRAIN = ("train", "--follow", "--shards", f"1..{ROUNDS}", "--json")

Start = Callable[..., Command]


@pytest.fixture(scope="module")
def spadework(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start a command with small settings in a home."""
    with zygote(tmp_path_factory.mktemp("output")) as server:
        yield lambda home, *arguments: server.spadework(*arguments, "--home", str(home), *SMALL)


def finish(*commands: Command) -> None:
    for command in commands:
        assert command.wait() == 0, command.err.read_text()


def design(record: DesignRecord) -> tuple[object, ...]:
    return (record.id, record.ids, record.outcome, record.environment, record.reward)


def contents(home: Path) -> list[object]:
    """What the shards say, but for log-probabilities (float noise of another batch) and times."""
    with Store.open(home / "store") as store:
        assert store.verify() == []
        return [
            (
                one.policy_version,
                [record.id for record in store.shard(one.shard).environments],
                [design(record) for record in store.shard(one.shard).designs],
                [(play.id, play.ids, play.episode_return) for play in store.shard(one.shard).plays],
            )
            for one in store.shards()
        ]


def choices(home: Path) -> list[object]:
    """What each version's step played, in order, and what it left out."""
    policy = Versions(home / "policy")
    kept = [policy.path(version) / CURRICULUM for version in policy.all()[1:]]
    return [json.loads(path.read_text())["choice"] for path in kept]


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def said(command: Command) -> str:
    """What a command has said so far, which is nothing before it has begun."""
    return command.err.read_text() if command.err.exists() else ""


def until(command: Command, reached: Callable[[], bool]) -> None:
    """Wait until something is reached by a command at work."""
    while not reached():
        assert command.alive, said(command)
        time.sleep(0.002)


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory, spadework: Start) -> Path:
    """The same run made by ordinary commands, each at the moment that the schedule names."""
    home = tmp_path_factory.mktemp("by-hand")
    finish(spadework(home, "generate", "--rounds", "2"))
    for shard in (1, 2):
        finish(spadework(home, "train", "--shards", str(shard)))
        if shard + 2 <= ROUNDS:
            finish(spadework(home, "generate", "--rounds", str(shard + 2)))
    finish(spadework(home, "train"))
    return home


def test_two_processes_killed_and_started_again_make_the_run_that_the_schedule_says(
    by_hand: Path, tmp_path: Path, spadework: Start
) -> None:
    home = tmp_path / "home"
    trainer = spadework(home, *TRAIN)  # there is no home yet, and nothing to train on
    producer = spadework(home, *PRODUCE)
    until(producer, lambda: lines(home / "runs" / "main" / "rounds" / "000001.jsonl") > 7)
    producer.kill()
    until(trainer, lambda: "waiting for a shard after 0" in said(trainer))
    producer = spadework(home, *PRODUCE)
    # The trainer's first sign of a step is the log of its plays; the version comes later.
    until(trainer, lambda: any((home / "store" / "plays").glob("*.parquet")))
    trainer.kill()
    assert not Versions(home / "policy").has(1)
    trainer = spadework(home, *TRAIN)
    finish(producer, trainer)

    assert contents(home) == contents(by_hand)
    assert choices(home) == choices(by_hand) and len(choices(home)) == ROUNDS
    assert [version for version, *_ in contents(home)] == [0, 0, 1]
    versions = Versions(home / "policy")
    assert versions.all() == list(range(ROUNDS + 1))
    assert [versions.read(number).shard for number in versions.all()] == [None, 1, 2, 3]
    with Store.open(home / "store") as store:
        for number in range(1, ROUNDS + 1):
            assert {one.policy_version for one in store.shard(number).designs} == {
                max(0, number - 2)
            }
    trained = [json.loads(line)["version"] for line in trainer.out.read_text().splitlines()]
    assert trained == [1, 2, 3]
    assert [json.loads(line)["round"] for line in producer.out.read_text().splitlines()][-1] == 3
    # Each is done: the same commands again find nothing left.
    finish(spadework(home, *PRODUCE), spadework(home, *TRAIN))


def test_a_producer_waits_for_a_trainer_that_is_not_there(
    by_hand: Path, tmp_path: Path, spadework: Start
) -> None:
    home = Path(shutil.copytree(by_hand, tmp_path / "home"))
    for number in (2, 3):
        shutil.rmtree(home / "policy" / f"v{number:06d}")
    producer = spadework(home, "generate", "--follow", "--rounds", "4")
    until(producer, lambda: "waiting for policy version 2" in said(producer))
    finish(spadework(home, "train", "--shards", "2"))
    finish(producer)
    with Store.open(home / "store") as store:
        assert store.shards()[-1].policy_version == 2


def test_taking_turns_in_two_processes_is_the_loop_to_the_last_bit(
    tmp_path: Path, spadework: Start
) -> None:
    turns = ("--set", "sync.max_ahead=1")
    loop, two = tmp_path / "loop", tmp_path / "two"
    finish(spadework(loop, "loop", "--rounds", "2", *turns))
    finish(
        spadework(two, "generate", "--follow", "--rounds", "2", *turns),
        spadework(two, "train", "--follow", "--shards", "1..2", *turns),
    )
    assert contents(two) == contents(loop)
    for version in Versions(loop / "policy").all():
        folders = [Versions(home / "policy").path(version) for home in (loop, two)]
        for name in ("model.safetensors", *([CURRICULUM] if version else [])):
            one, other = ((folder / name).read_bytes() for folder in folders)
            assert one == other, name


@pytest.mark.parametrize(
    ("role", "arguments", "line"),
    [
        (producing, PRODUCE, "another process produces rounds in"),
        (producing, ("generate",), "another process produces rounds in"),
        (training, TRAIN, "another process trains in"),
        (training, ("loop",), "another process trains in"),
    ],
)
def test_a_second_one_of_a_kind_is_refused_in_one_line(
    role: Callable[[Path], object],
    arguments: tuple[str, ...],
    line: str,
    by_hand: Path,
    spadework: Start,
) -> None:
    with role(by_hand):  # type: ignore[attr-defined]
        command = spadework(by_hand, *arguments)
        assert command.wait() == 2
    error = command.err.read_text()
    assert line in error
    assert error.count("\n") == 1


def test_what_no_trainer_could_follow_is_refused_before_anything_is_made(
    tmp_path: Path, spadework: Start
) -> None:
    command = spadework(tmp_path / "far", *TRAIN, "--set", "sync.max_ahead=9")
    assert command.wait() == 2
    assert "8 versions old" in command.err.read_text()
    assert not (tmp_path / "far").exists()
