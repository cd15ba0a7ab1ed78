"""Golden renders live in ``tests/golden``; after a wanted change of a prompt write them again with
``pytest tests/envgen/test_brief.py --golden`` and read the difference."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from envgen.brief import Brief, Known, make_briefs, prompt_version, render
from envgen.config import CorpusConfig, DesignerConfig
from envgen.corpus import Corpus, Document
from envgen.failures import Failure, Refusal, frequent, refusals
from envgen.skills import SKILLS
from memory import DesignRecord, EnvironmentRecord, StandingRecord, Store

GOLDEN = Path(__file__).parents[1] / "golden"
TURNS = 12


def environment(
    title: str, source: str = "class CoinEnv:\n    pass\n", id: str = "0" * 20
) -> EnvironmentRecord:
    return EnvironmentRecord(
        id=id,
        shard=1,
        setting="game",
        skills=("logical_deduction",),
        title=title,
        description=title,
        source=source,
        hint="Weigh in threes.",
        tools="",
        difficulty=2,
        certificate="{}",
        policy_version=0,
        parents=(),
        document="",
        design="",
        digest="",
        fingerprint="",
        isolation="nsjail",
        decision="{}",
    )


def standing(status: str, bare: float, helped: float, id: str = "0" * 20) -> StandingRecord:
    return StandingRecord(
        environment=id,
        policy_version=0,
        plays_unhinted=16,
        plays_hinted=16,
        return_unhinted=bare,
        return_hinted=helped,
        regret=helped - bare,
        regret_low=-1.0,
        regret_high=1.0,
        status=status,
        hint_only=status == "hint_only",
        updated=1,
    )


def design(index: int, setting: str, stage: str, detail: str, shard: int = 1) -> DesignRecord:
    return DesignRecord(
        id=f"{shard}-{index:03d}",
        shard=shard,
        brief=json.dumps({"setting": setting}) if setting else "",
        group="",
        prompt_ids=(),
        ids=(),
        logprobs=(),
        text="",
        text_only=True,
        temperature=1.0,
        seed=0,
        policy_version=0,
        outcome="refused" if stage else "admitted",
        stage=stage,
        reason="certificate",
        detail=detail,
        environment="",
        reward=0.0,
    )


BRIEF = Brief(
    id="000001-000",
    setting="game",
    skill="logical_deduction",
    level=3,
    document=Document("canal", "Canal locks", "A lock lifts a boat.", "CC0-1.0"),
    topic=("canal", "lock", "boat"),
    like=(
        Known(environment("Find the light coin."), standing("frontier", 0.375, 0.75)),
        Known(environment("Name the liar."), standing("frontier", 0.5, 0.625)),
    ),
    avoid=(
        Known(environment("Add two numbers."), standing("mastered", 1.0, 1.0)),
        Known(environment("Break the cipher."), standing("hopeless", 0.0, math.nan)),
        Known(environment("Say the password."), standing("hint_only", 0.0, 1.0)),
    ),
    failures=(
        Failure("solvable", "solution() does not win on seed N: the play is not over", 7),
        Failure("read", "after the code write one line that starts with `hint:`", 1),
    ),
)
BARE = replace(BRIEF, document=None, topic=(), like=(), avoid=(), failures=())
OWN = replace(BARE, level=0)
TOOLS = replace(BARE, setting="tool_use", skill="error_recovery", level=5, document=BRIEF.document)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", create=True) as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "brief", "style"),
    [
        ("brief_short", BRIEF, "short"),
        ("brief_short_bare", BARE, "short"),
        ("brief_full", BRIEF, "full"),
        ("brief_full_bare", BARE, "full"),
        ("brief_full_tools", TOOLS, "full"),
        ("brief_short_own", OWN, "short"),
        ("brief_full_own", OWN, "full"),
    ],
)
def test_a_brief_renders_as_its_golden_file(
    name: str, brief: Brief, style: str, request: pytest.FixtureRequest
) -> None:
    (message,) = render(brief, style, TURNS)
    path = GOLDEN / f"{name}.md"
    if request.config.getoption("--golden"):
        path.write_text(message.content + "\n")
    assert message.role == "user"
    assert message.content + "\n" == path.read_text()


def test_every_skill_and_level_has_words_of_its_own_in_the_full_brief() -> None:
    told = {
        render(replace(BARE, skill=skill, level=level), "full", TURNS)[0].content
        for skill in SKILLS
        for level in (1, 2, 3, 4, 5)
    }
    assert len(told) == 5 * len(SKILLS)


def test_a_version_names_the_prompt_and_changes_with_its_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {style: prompt_version(style) for style in ("short", "full")}
    assert before["short"].startswith("short-")
    assert BRIEF.as_dict("full")["prompt"] == before["full"]
    import envgen.brief as module

    read = module._file
    monkeypatch.setattr(module, "_file", lambda name: read(name) + " ")
    after = {style: prompt_version.__wrapped__(style) for style in before}
    assert all(before[style] != after[style] for style in before)
    monkeypatch.setattr(
        module, "_file", lambda name: read(name) + " " * (name == "designer_full.md")
    )
    assert prompt_version.__wrapped__("short") == before["short"]


def made(
    store: Store, number: int = 15, round_number: int = 1, seed: int = 0, **config: object
) -> list[Brief]:
    corpus = Corpus.open(CorpusConfig(max_tokens=40))
    return make_briefs(
        number,
        replace(DesignerConfig(), **config),
        corpus,
        store,
        round_number=round_number,
        standings=store.latest_standings(),
        seed=seed,
        drawn={"game": 9 * (round_number - 1), "tool_use": 6 * (round_number - 1)},
        tokens=lambda text: len(text.split()),
    )


def test_briefs_are_a_function_of_seed_and_round_and_deal_skills_like_cards(store: Store) -> None:
    def told(*arguments: int) -> list[dict[str, object]]:
        return [brief.as_dict("short") for brief in made(store, 4, *arguments)]

    assert sorted(brief.skill for brief in made(store)) == sorted(SKILLS)
    five = [brief.skill for number in (1, 2, 3) for brief in made(store, 5, number)]
    assert sorted(five) == sorted(SKILLS), "a deck lasts over as many rounds as it takes"
    assert told(1) == told(1)
    assert told(1) != told(2)
    assert told(1) != told(1, 1)


def test_a_designer_that_chooses_the_level_itself_is_told_none(store: Store) -> None:
    (own,) = made(store, 1, difficulty="own")
    assert own.level == 0
    assert not any(
        line.startswith("level") for line in render(own, "short", TURNS)[0].content.split("\n")
    )
    (even,) = made(store, 1, difficulty="even", levels=(4,))
    assert "level 4" in render(even, "short", TURNS)[0].content.split("\n")


def test_a_brief_has_a_document_for_its_setting_no_document_twice_and_none_too_long(
    store: Store,
) -> None:
    shelves = Corpus.open(CorpusConfig()).shelves
    ids = {
        setting: {shelf.at(index).id for index in range(30)} for setting, shelf in shelves.items()
    }
    assert not ids["game"] & ids["tool_use"]
    briefs = made(store) + made(store, round_number=2)
    documents = [brief.document for brief in briefs]
    assert len({one.id for one in documents if one}) == len(briefs)
    for brief in briefs:
        assert brief.document is not None
        assert brief.document.id in ids[brief.setting]
        assert 30 <= len(brief.document.text.split()) <= 40


def test_a_brief_shows_environments_with_figures_and_recent_failures_of_its_setting(
    store: Store,
) -> None:
    facts = {"a": ("frontier", 0.5, 0.75), "b": ("mastered", 1.0, 1.0), "c": ("hopeless", 0.0, 0.0)}
    store.publish(
        1,
        [environment(f"Task {id}.", f"class {id.upper()}Env: ...", id * 20) for id in facts],
        [
            design(0, "game", "solvable", "solution() does not win on seed 3"),
            design(1, "game", "solvable", "solution() does not win on seed 41"),
            design(2, "tool_use", "hint", "the hint holds a call ('len(x)')"),
            design(3, "game", "", ""),
            design(4, "", "loads", "an import of strangers"),
        ],
        [],
        [standing(*figures, id=id * 20) for id, figures in facts.items()],
        meta={},
    )
    by_skill = {brief.skill: brief for brief in made(store)}
    brief = by_skill["logical_deduction"]
    assert [known.figures for known in brief.like] == [
        "mean return without the hint 0.50 over 16 plays, with it 0.75 over 16 plays"
    ]
    assert {known.title: known.why.split(" (")[0] for known in brief.avoid} == {
        "Task b": "too easy",
        "Task c": "too hard",
    }
    assert brief.failures == (Failure("solvable", "solution() does not win on seed N", 2),)
    assert not by_skill["spatial_reasoning"].like
    assert [one.stage for one in by_skill["error_recovery"].failures] == ["hint"]
    stored = brief.as_dict("full")
    assert stored["like"] == ["a" * 20]
    assert stored["failures"][0]["times"] == 2
    without = {one.skill: one for one in made(store, memory=False)}["logical_deduction"]
    assert (without.like, without.avoid, without.failures) == ((), (), ())
    assert all(not one.failures for one in made(store, failures=0))
    assert all(not one.failures for one in made(store, prompt="short"))


def test_only_the_newest_shards_are_asked_for_failures(store: Store) -> None:
    for shard in (1, 2, 5):
        store.publish(shard, [], [design(0, "game", "s", f"{shard}", shard)], [], [], meta={})
    assert refusals(store, "game", 2) == [Refusal("s", "2"), Refusal("s", "5")]


def refused(*messages: str) -> list[Refusal]:
    return [Refusal("contract", message) for message in messages]


@pytest.mark.parametrize(
    ("given", "most", "told"),
    [
        ([], 5, []),
        (refused("a"), 0, []),
        (refused("seed 3 of 8", "seed -1 of 8", "seed 2.5 of 8"), 5, [("seed N of N", 3)]),
        (refused("imports 'numpy'", "imports 'torch'"), 5, [("imports 'torch'", 2)]),
        (refused("b", "a", "c", "c"), 2, [("c", 2), ("a", 1)]),
        (refused("one\n  two\x1b[31m", "one two [31m"), 5, [("one two [Nm", 2)]),
        (refused("sha256 fails"), 5, [("sha256 fails", 1)]),
        (refused("x" * 1000), 5, [("x" * 300, 1)]),
    ],
)
def test_failures_are_folded_counted_and_ranked(
    given: list[Refusal], most: int, told: list[tuple[str, int]]
) -> None:
    assert [(one.message, one.times) for one in frequent(given, most)] == told


def test_one_message_of_two_stages_is_two_failures() -> None:
    found = frequent([Refusal("a", "m"), Refusal("b", "m"), Refusal("b", "m")], 5)
    assert [(one.stage, one.times) for one in found] == [("b", 2), ("a", 1)]
