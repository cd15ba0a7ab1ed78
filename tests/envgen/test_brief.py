"""Golden renders live in ``tests/golden``; after a wanted change of a prompt write them again with
``pytest tests/envgen/test_brief.py --golden`` and read the difference."""

from dataclasses import replace
from pathlib import Path

import pytest

from envgen.brief import Brief, make_briefs, render
from envgen.config import CorpusConfig, DesignerConfig
from envgen.corpus import Corpus, Document
from memory import EnvironmentRecord, Store

GOLDEN = Path(__file__).parents[1] / "golden"


def environment(title: str, source: str = "class CoinEnv:\n    pass\n") -> EnvironmentRecord:
    return EnvironmentRecord(
        id="0" * 20,
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


BRIEF = Brief(
    id="000001-000",
    setting="game",
    skill="logical_deduction",
    level=3,
    document=Document("canal", "Canal locks", "A lock lifts a boat.", "CC0-1.0"),
    topic=("canal", "lock", "boat"),
    like=(environment("Find the light coin."),),
    avoid=(environment("Add two numbers."), environment("Echo the word.")),
)
BARE = replace(BRIEF, document=None, topic=(), like=(), avoid=())
TOOLS = replace(BARE, setting="tool_use", skill="error_recovery")


@pytest.mark.parametrize(
    ("name", "brief", "style"),
    [
        ("brief_short", BRIEF, "short"),
        ("brief_short_bare", BARE, "short"),
        ("brief_full", BRIEF, "full"),
        ("brief_full_tools", TOOLS, "full"),
    ],
)
def test_a_brief_renders_as_its_golden_file(
    name: str, brief: Brief, style: str, request: pytest.FixtureRequest
) -> None:
    (message,) = render(brief, style)
    path = GOLDEN / f"{name}.md"
    if request.config.getoption("--golden"):
        path.write_text(message.content + "\n")
    assert message.role == "user"
    assert message.content + "\n" == path.read_text()


def test_briefs_are_a_function_of_seed_and_round_and_deal_skills_like_cards(tmp_path: Path) -> None:
    config = DesignerConfig()
    corpus = Corpus.open(CorpusConfig())
    with Store.open(tmp_path / "store", create=True) as store:

        def made(round_number: int, seed: int = 0) -> list[str]:
            briefs = make_briefs(
                15, config, corpus, store, round_number=round_number, policy_version=0, seed=seed
            )
            return [brief.as_json() for brief in briefs]

        skills = [
            brief.skill
            for brief in make_briefs(
                15, config, corpus, store, round_number=1, policy_version=0, seed=0
            )
        ]
        assert sorted(skills) == sorted(config.skills)
        assert made(1) == made(1)
        assert made(1) != made(2)
        assert made(1) != made(1, seed=1)
