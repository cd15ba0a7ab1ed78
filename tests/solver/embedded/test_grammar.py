"""The grammar: every family, checked through the sandbox without trusting its own bookkeeping."""

import ast
from collections.abc import AsyncIterator
from random import Random

import pytest

from sandbox import Pool, Sandbox, SandboxConfig, episode_return, game_action
from solver.embedded import data
from solver.embedded.grammar import FAMILIES, SKILLS, Ask, Program, sample
from solver.embedded.words import WORDS
from solver.toolcalls import parse

MAKERS = [(skill, maker.__name__) for skill, (_, makers) in FAMILIES.items() for maker in makers]


@pytest.fixture
async def pool() -> AsyncIterator[Pool]:
    async with Sandbox(SandboxConfig()) as sandbox, Pool(sandbox) as pool:
        yield pool


def program_of(skill: str, family: str, seed: int, level: int) -> Program:
    rng = Random(seed)
    return sample(rng, skill, level, tuple(rng.sample(WORDS, 2)), family)


def test_the_grammar_covers_all_game_skills_and_four_tool_skills() -> None:
    assert len(MAKERS) >= 15
    assert len(SKILLS["game"]) == 9
    assert len(SKILLS["tool_use"]) == 4


def test_the_words_are_about_two_hundred_and_none_begins_or_ends_another() -> None:
    assert 180 <= len(WORDS) <= 250
    assert len(set(WORDS)) == len(WORDS)
    for word in WORDS:
        for other in WORDS:
            assert word == other or not (other.startswith(word) or other.endswith(word))


@pytest.mark.parametrize(("skill", "family"), MAKERS)
def test_a_family_is_fixed_by_the_seed_and_varied_over_seeds(skill: str, family: str) -> None:
    assert program_of(skill, family, 7, 3).source == program_of(skill, family, 7, 3).source
    assert len({program_of(skill, family, seed, 3).source for seed in range(20)}) > 15


@pytest.mark.parametrize(("skill", "family"), MAKERS)
def test_programs_parse_and_their_hints_are_short_words_without_digits(
    skill: str, family: str
) -> None:
    for seed in range(10):
        program = program_of(skill, family, seed, 1 + seed % 5)
        (cls,) = [n for n in ast.parse(program.source).body if isinstance(n, ast.ClassDef)]
        assert cls.name.endswith("Env")
        assert ast.get_docstring(cls) == program.title
        assert len(program.hint.split()) <= 30
        assert not any(char.isdigit() for char in program.hint)
        assert "\n" not in program.hint


@pytest.mark.parametrize(("skill", "family"), MAKERS)
async def test_the_solution_wins_and_demonstrations_are_what_the_sandbox_plays(
    pool: Pool, skill: str, family: str
) -> None:
    for seed in range(2):
        program = program_of(skill, family, 100 + seed, 2 + 2 * seed)
        async with pool.lease(program.source) as jail:
            assert jail.info.setting == program.setting
            tools = tuple(tool["function"]["name"] for tool in jail.info.tools)
            assert tools == tuple(name for name, _ in program.tools)
            async with await jail.episode(seed) as episode:
                value = 0.0
                for action in await episode.solution():
                    step = await episode.step(action)
                    value = episode_return(step.reward, step.terminated)
                assert value == 1
            rng = Random(seed)
            for hinted, careful in ((False, False), (False, True), (True, False), (True, True)):
                demo = program.play(Ask(rng.randrange(2**31), hinted, careful, rng))
                async with await jail.episode(demo.seed) as episode:
                    seen, value = episode.observation, 0.0
                    for turn in demo.turns:
                        assert [(m.role, m.content) for m in seen] == [
                            (say.role, say.content) for say in turn.seen
                        ]
                        game = program.setting == "game"
                        action = game_action(turn.reply) if game else parse(turn.reply).action()
                        step = await episode.step(action)
                        seen = step.observation
                        value = episode_return(step.reward, step.terminated)
                    assert (value == 1) == demo.won
                if hinted and careful:
                    assert demo.won


def test_the_brief_holds_its_lines_in_order_and_the_design_its_fence_and_hint() -> None:
    rng = Random(1)
    levels: list[bool] = []
    for _ in range(50):
        (asked, answer), program = data.design(rng)
        heads = [line.split()[0] for line in asked.text.splitlines()]
        assert heads[:2] == ["design", "skill"]
        levels.append(f"level {program.level}" in asked.text.splitlines())
        assert levels[-1] == ("level" in heads)
        order = ["design", "skill", "level", "topic", "like", "avoid"]
        assert heads == sorted(heads, key=order.index)
        assert answer.text == f"```python\n{program.source}```\nhint: {program.hint}"
        assert asked.trained is False
        assert answer.trained is True
    assert 0.4 < sum(levels) / len(levels) < 0.9


def test_training_data_is_fixed_by_seed_role_rank_and_pool() -> None:
    assert data.examples(3, "solver", 1, 5, 20) == data.examples(3, "solver", 1, 5, 20)
    assert data.examples(3, "solver", 1, 5, 20) != data.examples(3, "solver", 0, 5, 20)


def test_the_programs_behind_a_roles_examples_are_drawn_again() -> None:
    designed = list(data.programs(3, "designer", 0, 2, 4))
    shown = [talk for pool in range(2) for talk in data.examples(3, "designer", 0, pool, 4)]
    assert [f"```python\n{one.source}```\nhint: {one.hint}" for one in designed] == [
        answer.text for _, answer in shown
    ]
    played = list(data.programs(3, "solver", 1, 1, 200))
    plays = data.examples(3, "solver", 1, 0, 200)
    hinted = [
        (program, segments)
        for program, segments in zip(played, plays, strict=True)
        if any(f"\nhint: {program.hint}" in segment.text for segment in segments)
    ]
    assert 40 < len(hinted) < 120
