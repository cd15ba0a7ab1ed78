"""The held-out set that ships: what it holds, that it can be won, and that nothing of it was trained on."""

import ast
import importlib.util
import random
from collections import Counter

import pytest

from bench.heldout.dataset import QUESTIONS, SEEDS, read_set
from bench.heldout.make import (
    HINTS,
    LARGEST,
    LONGEST_ANSWER,
    LONGEST_QUESTION,
    questions,
    seeds,
)
from envgen.pools.candidate import Candidate
from envgen.pools.packages import read_package
from sandbox import Pool, Sandbox, SandboxConfig, episode_return
from solver.embedded import novelty
from solver.embedded.grammar import FAMILIES
from solver.smollm2 import lessons
from solver.smollm2.warmup import Recipe

SET = read_set("embedded").environments
PROGRAMS = [one for one in SET if one.family not in (SEEDS, QUESTIONS)]
ASKED = [one for one in SET if one.family == QUESTIONS]


def rows(source: str) -> list[tuple[str, str]]:
    """Return a program's questions and answers."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "QUESTIONS":
            found: list[tuple[str, str]] = ast.literal_eval(node.value)
            return found
    raise AssertionError("no questions")


def short(source: str) -> bool:
    """Whether the rule takes a program."""
    return all(
        len(question) <= LONGEST_QUESTION and len(answer) <= LONGEST_ANSWER
        for question, answer in rows(source)
    )


def test_the_set_holds_every_family_at_levels_two_to_five_and_the_seed_library() -> None:
    assert len(PROGRAMS) >= 150
    assert {one.skill for one in PROGRAMS} == set(FAMILIES)
    assert {one.level for one in PROGRAMS} == {2, 3, 4, 5}
    counts = Counter(one.skill for one in PROGRAMS)
    assert min(counts.values()) >= 9
    assert tuple(seeds()) == tuple(one for one in SET if one.family == SEEDS)


def test_no_program_of_the_set_was_trained_on_or_stands_twice() -> None:
    digests = {novelty.digest(one.source) for one in PROGRAMS}
    assert len(digests) == len(PROGRAMS)
    # All pools take minutes. A set that left out a quarter of the plays held one program of these.
    facts = {**novelty.shipped_facts(), "pools": {"designer": 8, "solver": 8}}
    assert not digests & novelty.training_digests(facts)


def test_the_second_policy_was_taught_nothing_of_the_set_either() -> None:
    recipe = Recipe()
    taught = lessons.programs(recipe.seed, recipe.steps, recipe.designs, recipe.plays)
    digests = {novelty.digest(program.source) for program in taught}
    assert len(digests) > 700
    assert digests.isdisjoint(novelty.digest(one.source) for one in PROGRAMS)


def test_the_questions_of_others_are_short_tasks_each_once_with_a_hint() -> None:
    assert [one.title.replace(" ", "_") for one in ASKED] == list(HINTS)
    assert [one.hint for one in ASKED] == list(HINTS.values())
    for one in ASKED:
        assert short(one.source), one.id


async def test_every_task_of_others_is_won_in_the_jail_by_its_own_solution_only() -> None:
    async with Sandbox(SandboxConfig()) as sandbox, Pool(sandbox) as pool:
        for one in ASKED:
            texts = [question for question, _ in rows(one.source)]
            async with pool.lease(one.source) as jail:
                assert jail.info.setting == one.setting
                async with await jail.episode(7) as episode:
                    first = episode.observation[-1].content
                    assert any(first.endswith(text) for text in texts), one.id
                    for action in await episode.solution():
                        step = await episode.step(action)
                    assert episode_return(step.reward, step.terminated) == 1, one.id
                async with await jail.episode(7) as episode:
                    step = await episode.step("\\boxed{I do not know}")
                    assert step.reward == 0, one.id


def missing() -> bool:
    return importlib.util.find_spec("reasoning_gym") is None


@pytest.mark.skipif(missing(), reason="pip install -e '.[pools]' installs it")
# the package leaves its files open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_rule_takes_just_these_tasks_and_makes_the_same_programs_again() -> None:
    assert questions() == ASKED
    left = [name for name in _begins_short() if name not in HINTS]
    for found in read_package(QUESTIONS, left, LARGEST):
        assert not isinstance(found, Candidate) or not short(found.source), found.place


def _begins_short() -> list[str]:
    """Return the tasks whose first question is short: of the others none can be taken."""
    import reasoning_gym

    from envgen.pools.questions import MOST
    from envgen.pools.reasoning_gym import names
    from spadekit.seeds import derive

    state = random.getstate()
    try:
        found = []
        for name in names():
            seed = derive(0, "pool", name) % 2**31
            data = reasoning_gym.create_dataset(name, size=3 * MOST, seed=seed)
            if len(data[0]["question"]) <= LONGEST_QUESTION:
                found.append(name)
        return found
    finally:
        random.setstate(state)
