"""The seed library: files, settings and hints that people read first."""

import ast
from itertools import combinations

from envgen.certificate.hint import check_hint
from envgen.seeds import FOLDER, load
from envgen.skills import GAME_SKILLS, SKILLS, TOOL_SKILLS, setting_of
from memory.diversity import jaccard, shingles


def test_there_are_games_and_tool_backends_for_every_skill_from_easy_to_very_hard() -> None:
    games = [seed for seed in load() if seed.setting == "game"]
    tools = [seed for seed in load() if seed.setting == "tool_use"]
    assert len(games) >= 24
    assert len(tools) >= 16
    for group, skills in ((games, GAME_SKILLS), (tools, TOOL_SKILLS)):
        assert {seed.skills[0] for seed in group} == set(skills)
        assert {seed.difficulty for seed in group} == {1, 2, 3, 4, 5}


def test_no_two_seeds_are_variants_of_each_other() -> None:
    known = {seed.name: shingles(seed.source) for seed in load()}
    nearest = {(a, b): jaccard(known[a], known[b]) for a, b in combinations(known, 2)}
    assert max(nearest.values()) < 0.55, max(nearest, key=lambda pair: nearest[pair])


def test_every_file_is_listed_and_every_skill_is_known() -> None:
    files = {path.stem for part in ("games", "tools") for path in (FOLDER / part).glob("*.py")}
    assert files == {seed.name for seed in load()}
    for seed in load():
        assert seed.skills
        assert set(seed.skills) <= set(SKILLS)
        assert {setting_of(skill) for skill in seed.skills} == {seed.setting}


def test_hints_are_short_ideas_on_one_line() -> None:
    for seed in load():
        assert check_hint(seed.hint, []).verdict == "pass"
        assert "\n" not in seed.hint


def test_a_stranger_finds_purpose_title_and_explained_methods_in_each_seed() -> None:
    for seed in load():
        tree = ast.parse(seed.source)
        assert ast.get_docstring(tree), seed.name
        environment = next(
            node
            for node in tree.body
            if isinstance(node, ast.ClassDef) and node.name.endswith("Env")
        )
        title = ast.get_docstring(environment)
        assert title is not None
        assert "\n" not in title
        for node in environment.body:
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                assert ast.get_docstring(node), f"{seed.name}.{node.name}"
