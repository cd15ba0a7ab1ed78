"""The comparison of arms: what is left to do, the figures, and a small one run for real."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench.ablation import recipe
from bench.ablation.arms import ARMS, named
from bench.ablation.outcome import (
    Budget,
    Health,
    Trained,
    abroad,
    curve,
    entry,
    gain,
    lead,
    lead_abroad,
)
from bench.ablation.work import Work, commands
from bench.charts import Point, Series
from bench.config import AblationConfig
from bench.heldout.dataset import read_set
from bench.heldout.results import Result
from bench.picture import picture
from solver.versions import PolicyInfo, Versions
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.report import Report
from spadekit.settings import load
from spadework import RECIPES, SECTIONS
from tests.bench.runs import publish_version

ROOT = Path(__file__).parents[2]
MakeResult = Callable[[int, float], Result]
NONE = (None, None)
HEALTH = Health(NONE, NONE, NONE, NONE, NONE, NONE)
PLAYS = Budget(3840, 2000)


def trained(make: MakeResult, arm: str, seed: int, end: float) -> Trained:
    return Trained(arm, seed, 20, (make(0, 0.2), make(10, 0.3), make(20, end)), HEALTH, PLAYS)


def work(home: Path, arm: str, version: int = 0) -> Work:
    for number in range(version + 1):
        (home / "policy" / f"v{number:06d}").mkdir(parents=True)
    return Work(named((arm,))[0], 1, home)


def test_every_arm_is_a_recipe_that_loads() -> None:
    for arm in ARMS:
        load(RECIPES / "embedded.toml", (), SECTIONS, [Path(path) for path in arm.paths])


def test_an_unknown_arm_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="no arm 'selfplay'; known: self_play, fixed_pool"):
        named(("selfplay",))


def test_both_kinds_of_arm_end_with_the_same_number_of_training_steps(tmp_path: Path) -> None:
    config = AblationConfig(rounds=7, pool=2)
    [loop, _] = commands(work(tmp_path / "a", "self_play"), config, (), 0)
    [pool, train, _] = commands(work(tmp_path / "b", "fixed_pool"), config, (), 0)
    assert loop[:3] == ["loop", "--rounds", "7"]
    assert pool[:3] == ["generate", "--rounds", "2"]
    assert train[:3] == ["train", "--steps", "7"]
    assert any(word.endswith("fixed-pool.toml") for word in train)
    assert {"producer.seed=1", "train.seed=1"} <= set(loop) & set(train)


def test_what_is_done_already_is_not_done_again(tmp_path: Path) -> None:
    config = AblationConfig(rounds=7, pool=2)
    [train, _] = commands(work(tmp_path / "a", "fixed_pool", version=3), config, (), 2)
    assert train[:3] == ["train", "--steps", "4"]
    [report] = commands(work(tmp_path / "b", "self_play", version=7), config, (), 7)
    assert report[0] == "report"


def test_settings_given_to_the_comparison_reach_every_command(tmp_path: Path) -> None:
    given = ("--config", "my.toml", "--set", "train.groups=2")
    for words in commands(work(tmp_path, "fixed_pool"), AblationConfig(), given, 0):
        assert "train.groups=2" in words
        assert words[words.index("--config") + 1] == "my.toml"


def begun(home: Path, arm: str, *overrides: str) -> tuple[Session, Work, AblationConfig]:
    """A comparison with these settings, and an arm of it."""
    given = ["--config", str(RECIPES / "embedded.toml")]
    given += [word for one in overrides for word in ("--set", one)]
    settings = load(RECIPES / "embedded.toml", overrides, SECTIONS)
    session = Session(Report(), settings, home, tuple(given), SECTIONS)
    one = Work(named((arm,))[0], 1, home / f"{arm}-1")
    return session, one, settings.section(AblationConfig)


def with_version(work: Work, digest: str) -> None:
    versions = Versions(work.home / "policy")
    publish_version(versions, PolicyInfo(0, None, 0, None, "", {}, {}))
    publish_version(versions, PolicyInfo(1, 0, 1, 1, digest, {}, {}))


def test_an_arm_that_was_begun_with_another_recipe_is_refused(tmp_path: Path) -> None:
    recipe.begin(*begun(tmp_path, "self_play"))
    recipe.check(*begun(tmp_path, "self_play"))
    with pytest.raises(BadInput) as told:
        recipe.check(*begun(tmp_path, "self_play", "train.kl=0.5"))
    assert str(told.value) == (
        f"{tmp_path / 'self_play-1'} was begun with another recipe: train.kl was 0.02 and is 0.5; "
        "set it back, or name another --home"
    )
    four = ("train.kl=0.5", "train.groups=2", "designer.max_tokens=9", "probe.plays=4")
    with pytest.raises(BadInput, match=r"train\.kl .* and 1 more; set it back"):
        recipe.check(*begun(tmp_path, "self_play", *four))


def test_an_arm_goes_on_with_more_rounds_and_other_measurements(tmp_path: Path) -> None:
    recipe.begin(*begun(tmp_path, "fixed_pool"))
    further = ("ablation.rounds=40", "ablation.jobs=2", "heldout.plays=9", "memory.uri=s3://a/b")
    recipe.check(*begun(tmp_path, "fixed_pool", *further))
    with pytest.raises(BadInput, match=r"ablation\.pool was 4 and is 6"):
        recipe.check(*begun(tmp_path, "fixed_pool", "ablation.pool=6"))


def test_what_an_arm_sets_itself_may_differ_in_the_recipe_under_it(tmp_path: Path) -> None:
    recipe.begin(*begun(tmp_path, "self_play_uniform"))
    recipe.check(*begun(tmp_path, "self_play_uniform", "ablation.pool=6", "producer.seed=7"))


def test_versions_without_a_record_count_where_their_settings_were_todays(tmp_path: Path) -> None:
    session, work, config = begun(tmp_path, "frozen")
    recipe.check(session, work, config)
    overlays = [Path(path) for path in work.arm.paths]
    with_version(work, session.varied(overlays, work.overrides).digest)
    recipe.check(session, work, config)
    with pytest.raises(BadInput, match=r"frozen-1 has no recipe\.json, .* version 1 was trained"):
        recipe.check(*begun(tmp_path, "frozen", "train.kl=0.5"))


@pytest.mark.parametrize("damage", ["", "[]", "{"])
def test_a_damaged_recipe_of_an_arm_is_named(tmp_path: Path, damage: str) -> None:
    one = begun(tmp_path, "self_play")
    recipe.begin(*one)
    (one[1].home / recipe.RECORD).write_text(damage)
    with pytest.raises(BadInput, match=r"recipe\.json: not an arm's recipe"):
        recipe.check(*one)


def test_an_entry_tells_both_decodings_with_their_interval(heldout_result: MakeResult) -> None:
    record = entry(trained(heldout_result, "self_play", 1, 0.4))
    assert (record["arm"], record["seed"], record["rounds"]) == ("self_play", 1, 20)
    for decoding in ("sampled", "greedy"):
        figures = record[decoding]
        assert figures["difference"] == pytest.approx(figures["end"] - figures["start"])
        assert figures["low"] < figures["difference"] < figures["high"]


def test_the_last_version_counts_not_the_best(heldout_result: MakeResult) -> None:
    results = (heldout_result(0, 0.2), heldout_result(10, 0.9), heldout_result(20, 0.2))
    one = Trained("self_play", 0, 20, results, HEALTH, PLAYS)
    assert abs(gain([one], "sampled").mean or 1.0) < 0.1


def test_arms_are_compared_seed_by_seed(heldout_result: MakeResult) -> None:
    high = [trained(heldout_result, "self_play", seed, 0.8) for seed in (0, 1)]
    low = [trained(heldout_result, "fixed_pool", seed, 0.2) for seed in (0, 1)]
    found = lead(high, low, "sampled")
    assert found.mean is not None
    assert found.low is not None
    assert found.mean > 0.4
    assert found.low > 0
    assert lead(high, high, "sampled").mean == 0
    with pytest.raises(ValueError, match="seed by seed"):
        lead(high, low[:1], "sampled")


def test_arms_are_judged_on_what_neither_of_them_designed(
    heldout_result: MakeResult, late_result: MakeResult
) -> None:
    def judged(arm: str, end: float) -> Trained:
        late = late_result(0, 0.2), late_result(20, end)
        return replace(trained(heldout_result, arm, 0, end), others=late)

    high, low = judged("self_play", 0.8), judged("frozen", 0.2)
    count = len(heldout_result(0, 0.2).environments)
    assert abroad([high], "sampled").clusters == 2 * count
    assert (abroad([high], "sampled").mean or 0.0) > 0.4
    found = lead_abroad([high], [low], "sampled")
    assert found.clusters == count
    assert (found.mean or 0.0) > 0.4
    assert abroad([replace(high, others=())], "sampled").mean is None


def test_arms_are_compared_abroad_over_the_same_seeds_each_of_them_judged(
    heldout_result: MakeResult,
) -> None:
    def judged(arm: str, seed: int) -> Trained:
        one = trained(heldout_result, arm, seed, 0.5)
        return replace(one, others=(one.results[0], one.results[-1]))

    high = [judged("self_play", seed) for seed in (0, 1)]
    low = [judged("frozen", seed) for seed in (0, 1)]
    assert lead_abroad(high, low, "sampled").mean == 0
    for fewer in (low[:1], [low[0], replace(low[1], others=())], [low[0], judged("frozen", 2)]):
        with pytest.raises(ValueError, match="seed by seed"):
            lead_abroad(high, fewer, "sampled")
        with pytest.raises(ValueError, match="seed by seed"):
            lead_abroad(fewer, high, "sampled")


def test_a_curve_has_only_versions_that_every_seed_was_judged_at(
    heldout_result: MakeResult,
) -> None:
    first = trained(heldout_result, "self_play", 0, 0.4)
    second = replace(
        trained(heldout_result, "self_play", 1, 0.4), results=(first.results[0], first.results[2])
    )
    assert [version for version, _ in curve([first, second], "sampled")] == [0, 20]


def test_the_picture_is_a_file_of_its_own_with_text_that_is_text() -> None:
    series = [Series("<script>", (Point(0.0, 0.1, 0.0, 0.2), Point(5.0, 0.3, 0.2, 0.4)))]
    root = ET.fromstring(picture("a & b", series, x_label="version"))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"<script>", "a & b"} <= set(texts)
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


SMALL = (
    *("producer.designs=4", "producer.designs_per_brief=2", "probe.plays=2"),
    *("train.groups=1", "train.group=2", "heldout.plays=1", "heldout.greedy_plays=1"),
    # the pool is the first round of self-play once more, so that only the second one is its own
    *("ablation.seeds=[0]", "ablation.rounds=2", "ablation.pool=1"),
    'ablation.arms=["self_play","fixed_pool"]',
)


def test_a_comparison_leaves_records_and_is_not_done_twice(tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    whole = (ROOT / "bench" / "heldout" / "embedded.jsonl").read_text()
    few.write_text("".join(whole.splitlines(keepends=True)[:4]))
    words = [sys.executable, "-m", "spadework", "bench", "ablation", "--json"]
    words += ["--home", str(tmp_path / "home"), "--set", f"heldout.path={few}"]
    words += [word for one in SMALL for word in ("--set", one)]
    first = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True)
    records = json.loads(first.stdout)
    assert [(one["arm"], one["seed"]) for one in records] == [("self_play", 0), ("fixed_pool", 0)]
    assert records == json.loads((tmp_path / "home/ablation/learning.json").read_text())
    ET.parse(tmp_path / "home/ablation/learning.svg")
    late = read_set(str(tmp_path / "home/ablation/others.jsonl")).environments
    assert {one.family for one in late} == {"self_play"}
    judged = tmp_path / "home/ablation/fixed_pool-0/runs/others/heldout"
    assert sorted(path.name for path in judged.iterdir()) == ["v000000.json", "v000002.json"]
    assert (
        "what the other arms designed late" in (tmp_path / "home/ablation/learning.md").read_text()
    )
    version = tmp_path / "home/ablation/fixed_pool-0/policy/v000001/policy.json"
    made = version.stat().st_mtime_ns
    again = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True)
    assert json.loads(again.stdout) == records
    assert version.stat().st_mtime_ns == made
    words += ["--set", "train.kl=0.5"]
    other = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert other.returncode == 2
    assert "self_play-0 was begun with another recipe: train.kl was 0.02 and is 0.5" in other.stderr
