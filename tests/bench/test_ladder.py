"""The whole ladder: real weights, a real store, real jails; and its figures on made-up returns."""

import json
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import bench.ladder
from bench.ladder import play
from bench.ladder.book import Book, Key, Protocol
from bench.ladder.config import LadderConfig
from bench.ladder.field import Contestant, Course, Field, gather
from bench.ladder.outcome import outcome
from bench.ladder.pages import tables
from bench.statistics import clustered_mean
from memory import EnvironmentRecord, MemoryConfig, Store
from solver.config import PolicyConfig
from solver.versions import PolicyInfo, Versions
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.report import Report
from spadekit.settings import Settings, load
from spadework import SECTIONS
from tests import records
from tests.bench.runs import PLAYING

SOURCE = '''\
class {name}Env:
    """{name} {shard}."""

    def reset(self, seed=None):
        {reset}
        self.seed = seed
        return f"Say anything, {{seed}}.", {{}}

    def step(self, action):
        return "Done.", {reward}, True, False, {{}}
'''
KINDS = {
    "Won": ("1.0", "pass"),
    "Half": ("0.5", "pass"),
    "Coin": ("float(self.seed % 2)", "pass"),
    "Broken": ("1.0", "raise KeyError"),
}
OVERRIDES = (
    *("ladder.environments=4", "ladder.floor=4", "ladder.plays=60", "ladder.waves=2"),
    *("solver.max_tokens=4", "sandbox.pool_jails=4", "solver.sources=3"),
)
Laddered = Callable[..., Path]


def environment(kind: str, shard: int) -> EnvironmentRecord:
    reward, reset = KINDS[kind]
    source = SOURCE.format(name=kind, shard=shard, reward=reward, reset=reset)
    return records.environment(source, shard, digest=f"{kind}-{shard}")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    """A home with two shards and three versions of different weights, each trained on a shard."""
    from safetensors.torch import load_file, save_file

    home = tmp_path_factory.mktemp("ladder")
    versions = Versions(home / "policy")
    versions.bootstrap(PolicyConfig(model=str(model_folder)))
    for number in (1, 2):

        def write(folder: Path, number: int = number) -> None:
            shutil.copytree(model_folder, folder, dirs_exist_ok=True)
            weights = load_file(folder / "model.safetensors")
            changed = {name: (1 + 0.01 * number) * value for name, value in weights.items()}
            save_file(changed, folder / "model.safetensors", {"format": "pt"})

        versions.publish(PolicyInfo(number, number - 1, number, number, "", {}, {}), write)
    with Store.open(home / "store", MemoryConfig(), create=True) as store:
        for shard in (1, 2):
            made = [environment(kind, shard) for kind in KINDS]
            meta = {"run": "main", "policy_version": shard - 1}
            standings = [
                records.standing(one.id, one.policy_version, unhinted=at, hinted=1.0)
                for one, at in zip(made, (1.0, 0.5, 0.5, 0.0), strict=True)
            ]
            store.publish(shard, made, [], [], standings, meta=meta)
    return home


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., Settings]:
    def make(*overrides: str) -> Settings:
        (tmp_path / "recipe.toml").write_text("")
        return load(tmp_path / "recipe.toml", [*OVERRIDES, *overrides], SECTIONS)

    return make


@pytest.fixture
def played(start: Path, settings: Callable[..., Settings]) -> Laddered:
    """Play the ladder of the home and return its folder."""

    def run(*overrides: str, as_json: bool = True) -> Path:
        bench.ladder.run(Session(Report(as_json), settings(*overrides), start), "main")
        return start / "runs" / "main" / "ladder"

    return run


def plays_of(folder: Path) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (folder / "plays.jsonl").read_text().splitlines()]
    return [line for line in lines if "wave" not in line]


def test_a_ladder_is_played_once_resumed_where_it_was_and_told(
    played: Laddered, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = played()
    told = json.loads(capsys.readouterr().out)
    plays = plays_of(folder)
    keys = {(one["version"], one["environment"], one["number"]) for one in plays}
    assert len(plays) == len(keys) == 60 == told["plays"]
    assert told == json.loads((folder / "ladder.json").read_text())

    # every version met the same instances: returns do not depend on what these policies say
    assert told["learned"]["mean"] == told["kept"]["mean"] == 0.0
    assert told["learned"]["clusters"] == 6 and told["kept"]["clusters"] == 3
    assert [len(row) for row in told["returns"]] == [2, 2, 2]
    assert [step["ahead"] is not None for step in told["steps"]] == [True, True]
    assert [step["learnable"]["mean"] for step in told["steps"]] == [0.5, 0.5]
    assert "versions show no trend" in told["verdict"]

    # a fault is no loss, and a broken environment gets no plays beyond the floor
    broken = environment("Broken", 1).id
    assert told["faulted"] == sum(one["return"] is None for one in plays) == 6
    assert sum(one["environment"] == broken for one in plays) == 3

    for name in ("ratings.svg", "returns.svg"):
        ET.parse(folder / name)
    page = (folder / "ladder.md").read_text()
    assert "![Returns](returns.svg)" in page
    assert "3 policy versions of the run `main` on 2 of its shards" in page and "60 plays" in page

    # killed in the middle of the last line of its last wave: the same plays come out
    whole = (folder / "plays.jsonl").read_bytes()
    (folder / "plays.jsonl").write_bytes(whole[: int(len(whole) * 0.8)])
    played()
    capsys.readouterr()
    again = (folder / "plays.jsonl").read_bytes()
    assert sorted(again.splitlines()) == sorted(whole.splitlines())

    # and nothing is played that was played
    def no_engine(*_: object) -> None:
        raise AssertionError("an engine was opened")

    monkeypatch.setattr(play, "open_policy", no_engine)
    played(as_json=False)
    shown = capsys.readouterr()
    assert (folder / "plays.jsonl").read_bytes() == again
    assert "It is not shown that both rise" in shown.out
    assert "0 plays made, 60 from before" in shown.err


def test_a_larger_budget_is_played_on_and_other_sampling_begins_anew(
    start: Path, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    with Store.open(start / "store", MemoryConfig()) as store:
        field = gather(start, store, "main", LadderConfig(environments=3, floor=2))
    config = LadderConfig(environments=3, floor=2)
    protocol = Protocol.of(settings())
    path = tmp_path / "plays.jsonl"
    with closing(Book(path, field, protocol)) as book:
        first = play.wave(book, config)
        assert len(first) == 3 * 2 * 2 == len(set(first))
        for key in first:
            book._journal.append(line(book, key, 0.5))
            book.returns[key] = 0.5
        second = play.wave(book, replace(config, plays=18, waves=2))
        assert len(second) == 3 and not set(second) & set(first)
        # the wave is written down: thought over again it is the same
        assert play.wave(book, replace(config, plays=18, waves=2)) == second
        assert play.wave(book, replace(config, plays=12)) == []
        with pytest.raises(BadInput, match=r"ladder\.plays = 5"):
            play.wave(book, replace(config, plays=5))
    with closing(Book(path, field, protocol)) as book:
        assert set(book.returns) == set(first) and set(book.planned) == set(second)
    other = replace(protocol, temperature=0.1)
    with closing(Book(path, field, other)) as book:
        assert not book.returns and not book.planned
    changed = replace(
        field, contestants=(replace(field.contestants[0], weights="x"), *field.contestants[1:])
    )
    with closing(Book(path, changed, protocol)) as book:
        assert {key.version for key in book.returns} == {1, 2}


@pytest.mark.parametrize(
    "override",
    ["solver.top_k=1", "solver.top_p=0.9", "policy.thinking=off", "policy.dtype=bfloat16"],
)
def test_plays_made_in_another_way_do_not_count(
    override: str, settings: Callable[..., Settings]
) -> None:
    assert Protocol.of(settings(override)).digest != Protocol.of(settings()).digest


def line(book: Book, key: Key, value: float) -> dict[str, object]:
    weights = {one.version: one.weights for one in book.field.contestants}[key.version]
    return {
        **key._asdict(),
        "protocol": book.protocol.digest,
        "weights": weights,
        "return": value,
    }


@pytest.mark.parametrize("damage", ['{"version": 1}\n', "[]\n", "{\n"])
def test_a_damaged_book_is_named(
    damage: str, tmp_path: Path, settings: Callable[..., Settings]
) -> None:
    (tmp_path / "plays.jsonl").write_text(damage)
    with pytest.raises(BadInput, match=r"plays\.jsonl.*move the file away"):
        Book(tmp_path / "plays.jsonl", Field((), ()), Protocol.of(settings()))


def test_a_run_without_two_versions_is_refused(start: Path, tmp_path: Path) -> None:
    shutil.copytree(start / "policy" / "v000000", tmp_path / "policy" / "v000000")
    with Store.open(start / "store", MemoryConfig()) as store:
        with pytest.raises(BadInput, match="has 1 policy version, a ladder needs two"):
            gather(tmp_path, store, "main", LadderConfig())
        with pytest.raises(BadInput, match="the runs there are: main"):
            gather(start, store, "other", LadderConfig())
        every = gather(start, store, "main", LadderConfig(every=9))
        assert [one.version for one in every.contestants] == [0, 2]


def test_the_sample_of_a_shard_is_seeded_and_grows(start: Path) -> None:
    def sample(**values: int) -> list[str]:
        with Store.open(start / "store", MemoryConfig()) as store:
            return [
                one.id
                for one in gather(start, store, "main", LadderConfig(**values))
                .courses[0]
                .environments
            ]

    assert sample(environments=2) == sample(environments=4)[:2]
    assert any(sample(seed=seed) != sample(seed=0) for seed in range(1, 6))


def made_up(forget: bool) -> tuple[Field, dict[Key, float | None], list[Key]]:
    """Four versions and three shards: each version learns its shard, and forgets the older ones or not."""
    courses = []
    for shard in (1, 2, 3):
        names = [replace(environment("Coin", shard), id=f"{shard}-{place}") for place in range(12)]
        courses.append(Course(shard, shard - 1, "d", tuple(names), clustered_mean({})))
    contestants = tuple(
        Contestant(version, "w", version - 1 if version else None, version or None)
        for version in range(4)
    )
    returns: dict[Key, float | None] = {}
    for version in range(4):
        for course in courses:
            knows = version == course.shard if forget else version >= course.shard
            for place, one in enumerate(course.environments):
                hard = place % 4
                returns[Key(version, one.id, 0)] = float(hard < (3 if knows else 1))
    return Field(contestants, tuple(courses)), returns, list(returns)


@pytest.mark.parametrize("forget", [True, False])
def test_what_was_learned_and_forgotten_is_told(forget: bool, tmp_path: Path) -> None:
    field, returns, floor = made_up(forget)
    protocol = Protocol(**asdict(PLAYING), seed=0)
    with closing(Book(tmp_path / "plays.jsonl", field, protocol)) as book:
        book.returns = returns
        found = outcome(field, book.tallies(), returns, floor)
    assert found.learned.mean == pytest.approx(0.5)
    assert found.learned.clusters == 36
    assert found.kept.mean == pytest.approx(-0.5 if forget else 0.0)
    assert found.kept.clusters == 24  # the last version has just been trained on the last shard
    assert found.steps[2].kept.mean is None
    assert found.returns[0][0].mean == pytest.approx(0.25)
    assert found.returns[1][0].mean == pytest.approx(0.75)
    assert all(len(row) == len(columns) for _, columns, rows in tables(found) for row in rows)
    assert found.versions is not None
    assert (found.versions.low > 0) is not forget


def test_a_version_that_was_left_out_has_no_lead(tmp_path: Path) -> None:
    field, returns, floor = made_up(False)
    few = replace(field, contestants=(field.contestants[0], field.contestants[3]))
    kept = {key: value for key, value in returns.items() if key.version in (0, 3)}
    protocol = Protocol(**asdict(PLAYING), seed=0)
    with closing(Book(tmp_path / "plays.jsonl", few, protocol)) as book:
        book.returns = kept
        found = outcome(few, book.tallies(), kept, floor)
    assert [one.ahead is None for one in found.steps] == [False, True, True]
    assert found.ahead is None
    assert found.learned.mean is None


@pytest.mark.parametrize(
    "values", [{"floor": 0}, {"environments": 0}, {"waves": 0}, {"every": 0}, {"plays": -1}]
)
def test_senseless_ladders_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(values))):
        LadderConfig(**values)
