"""The held-out set, its evaluation with a real engine in the real sandbox, and stored results."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench.commands import heldout, report
from bench.heldout.dataset import read_set
from bench.heldout.evaluate import chosen, jobs_of, open_evaluator, protocol_of, reusable
from bench.heldout.results import Result, change, comparable, path_of, read, save, stored
from memory import MemoryConfig, Store
from solver.config import PolicyConfig
from solver.versions import Versions
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.report import Report
from spadekit.settings import Settings, load

SOURCE = '''\
class {name}Env:
    """{name}."""

    def __init__(self, max_turns=2, **kwargs):
        pass

    def reset(self, seed=None):
        {reset}
        return f"Say anything, {{seed}}.", {{}}

    def step(self, action):
        return "Done.", {reward}, True, False, {{}}
'''
Make = Callable[..., Settings]
MakeResult = Callable[[int, float], Result]


def line(name: str, reward: float = 1.0, reset: str = "pass") -> str:
    source = SOURCE.format(name=name, reward=reward, reset=reset)
    return json.dumps({"id": name, "setting": "game", "family": name[:3], "source": source})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("home")
    Versions(folder / "policy").bootstrap(PolicyConfig(model=str(model_folder)))
    lines = [line("Won"), line("Lost", reward=0.0), line("Broken", reset="raise KeyError")]
    (folder / "set.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def settings(home: Path, tmp_path: Path, schema: dict[str, type]) -> Make:
    def make(*overrides: str) -> Settings:
        recipe = tmp_path / "recipe.toml"
        recipe.write_text(
            f'[heldout]\npath = "{home / "set.jsonl"}"\nplays = 3\ngreedy_plays = 2\n'
            "[solver]\nmax_tokens = 4\n"
        )
        return load(recipe, overrides, schema)

    return make


async def test_a_version_is_played_once_and_read_afterwards(home: Path, settings: Make) -> None:
    async with open_evaluator(home, "run", settings(), 0, print) as evaluator:
        first = await evaluator.evaluate(0)
        again = await evaluator.evaluate(0)
    assert again == first == read(path_of(home / "runs" / "run", 0))
    by_id = {one.id: one for one in first.environments}
    assert by_id["Won"].sampled == (1.0, 1.0, 1.0)
    assert by_id["Lost"].greedy == (0.0, 0.0)
    assert (by_id["Broken"].sampled, by_id["Broken"].faulted) == ((), 5)
    # a fault of the environment is no loss of the policy: the mean is over the other two
    assert (first.estimate("sampled").mean, first.estimate("sampled").clusters) == (0.5, 2)


async def test_other_weights_or_plays_are_measured_again(home: Path, settings: Make) -> None:
    async with open_evaluator(home, "other", settings(), 0, print) as evaluator:
        first = await evaluator.evaluate(0)
        save(home / "runs" / "other", replace(first, weights="0" * 64))
        second = await evaluator.evaluate(0)
        changed = replace(evaluator.protocol, plays=1)
        third = await replace(evaluator, protocol=changed).evaluate(0)
    assert second.weights == first.weights and second.created > first.created
    assert [len(one.sampled) for one in third.environments] == [1, 1, 0]


async def test_an_unknown_version_is_refused(home: Path, settings: Make) -> None:
    with pytest.raises(BadInput, match=r"version 9 .*0"):
        async with open_evaluator(home, "run", settings(), 9, print):
            pass


def test_every_version_meets_the_same_instances(home: Path, settings: Make) -> None:
    known = read_set(str(home / "set.jsonl"))
    protocol = protocol_of(settings(), known)
    environment = known.environments[0]
    many, few = jobs_of(environment, 8, protocol), jobs_of(environment, 4, protocol)
    assert many[:4] == few
    assert len({job.seed for job in many}) == 8
    assert all(job.hint is None and 0 <= job.seed < 2**31 for job in many)


def test_settings_left_out_are_those_of_the_solver(home: Path, settings: Make) -> None:
    known = read_set(str(home / "set.jsonl"))
    protocol = protocol_of(settings("heldout.max_tokens=9"), known)
    assert (protocol.max_tokens, protocol.max_turns, protocol.temperature) == (9, 12, 1.0)
    with pytest.raises(BadInput, match=r"heldout\.temperature"):
        protocol_of(settings("solver.temperature=0"), known)


@pytest.mark.parametrize(
    "override",
    ["solver.top_k=1", "solver.top_p=0.9", "policy.thinking=off", "policy.dtype=bfloat16"],
)
def test_a_stored_result_does_not_count_for_another_way_of_playing(
    home: Path, settings: Make, tmp_path: Path, heldout_result: MakeResult, override: str
) -> None:
    known = read_set(str(home / "set.jsonl"))
    usual, other = (protocol_of(settings(*one), known) for one in ((), (override,)))
    result = replace(heldout_result(0, 0.3), protocol=usual)
    save(tmp_path, result)
    assert reusable(tmp_path, 0, result.weights, usual) == result
    assert reusable(tmp_path, 0, result.weights, other) is None
    assert comparable([result, replace(result, protocol=other)], Versions(tmp_path))[1] == 1


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        ('{"id": "a", ', "not JSON"),
        ("[1]", "JSON object"),
        ('{"setting": "game", "source": "x"}', "`id` is missing"),
        ('{"id": "a", "setting": "game"}', "`source` is missing"),
        ('{"id": "a", "setting": "chess", "source": "x"}', "`setting` must be one of"),
        ('{"id": 3, "setting": "game", "source": "x"}', "`id` must be of type str"),
        ('{"id": "a", "setting": "game", "source": "x", "level": true}', "`level` must be"),
        (line("Won"), "already on line 1"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, damaged: str, reason: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(f"{line('Won')}\n\n{damaged}\n{line('Lost')}\n")
    with pytest.raises(BadInput, match=f"set.jsonl, line 3: .*{reason}"):
        read_set(str(path))


def test_a_set_that_is_missing_empty_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_set(str(tmp_path / "none.jsonl"))
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(BadInput, match="no environment"):
        read_set(str(tmp_path / "empty.jsonl"))
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(BadInput, match="line 1"):
        read_set(str(tmp_path / "bytes.jsonl"))


def test_results_come_back_as_they_were_saved(tmp_path: Path, heldout_result: MakeResult) -> None:
    result = heldout_result(3, 0.3)
    assert read(save(tmp_path, result)) == result
    assert stored(tmp_path) == [result]
    body = json.loads(path_of(tmp_path, 3).read_text())
    assert body["estimates"]["sampled"]["clusters"] == 64


@pytest.mark.parametrize("damage", ["", "{}", '{"format": 2}', '{"format": 1}', "[]"])
def test_a_damaged_result_is_refused_by_name(tmp_path: Path, damage: str) -> None:
    path = path_of(tmp_path, 1)
    path.parent.mkdir(parents=True)
    path.write_text(damage)
    with pytest.raises(BadInput, match=r"v000001\.json: .*remove it"):
        stored(tmp_path)


def test_only_results_of_one_protocol_are_compared(
    tmp_path: Path, heldout_result: MakeResult
) -> None:
    versions = Versions(tmp_path)
    old = heldout_result(0, 0.2)
    new = [
        replace(heldout_result(version, 0.3), protocol=replace(old.protocol, plays=4))
        for version in (1, 2)
    ]
    assert comparable([old, *new], versions) == (new, 1)
    assert comparable([], versions) == ([], 0)


def test_results_of_weights_that_were_replaced_are_not_shown(
    home: Path, heldout_result: MakeResult
) -> None:
    versions = Versions(home / "policy")
    stale, gone = heldout_result(0, 0.2), heldout_result(7, 0.2)
    assert comparable([stale, gone], versions) == ([gone], 1)


def test_the_change_between_versions_is_paired(heldout_result: MakeResult) -> None:
    first = heldout_result(0, 0.3)
    gain = replace(
        first,
        environments=tuple(
            replace(one, sampled=tuple(value + 0.5 for value in one.sampled))
            for one in first.environments
        ),
    )
    found = change(first, gain, "sampled")
    assert found.mean == pytest.approx(0.5)
    assert found.low == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("every", "expected"), [(1, [0, 1, 2, 3, 4, 5, 6]), (4, [0, 4, 6]), (99, [0, 6])]
)
def test_the_first_and_the_last_version_are_always_judged(every: int, expected: list[int]) -> None:
    assert chosen(list(range(7)), every) == expected
    assert chosen([], every) == []


def test_a_report_plays_the_held_out_set_when_asked(
    home: Path, settings: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(home / "store", MemoryConfig(), create=True) as store:
        store.publish(1, [], [], [], [], meta={"run": "asked", "policy_version": 0})
    report(Session(Report(as_json=True), settings(), home), "asked", 5)
    printed = json.loads(capsys.readouterr().out)
    assert [one["version"] for one in printed["heldout"]] == [0]
    assert printed["heldout"][0]["sampled"]["mean"] == 0.5
    assert path_of(home / "runs" / "asked", 0).exists()


def test_the_command_shows_the_newest_version_by_family(
    home: Path, settings: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    heldout(Session(Report(), settings(), home), "shown", None)
    out = capsys.readouterr().out
    assert "policy version 0" in out
    assert "Los" in out and "Won" in out and "0.500" in out
