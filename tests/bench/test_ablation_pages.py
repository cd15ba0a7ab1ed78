"""What the comparison of arms tells: sentences, tables, pictures."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench.ablation.arms import ARMS
from bench.ablation.findings import UNTAUGHT, compared, learned, method, parts
from bench.ablation.outcome import Budget, Health, Trained, by_arm
from bench.ablation.pages import markdown, tables, write
from bench.heldout.dataset import QUESTIONS, SEEDS, read_set
from bench.heldout.results import Result

MakeResult = Callable[[int, float], Result]
NONE = (None, None)
HEALTH = Health((0.9, 0.8), (1.0, 0.9), (0.2, 0.3), (0.7, 0.6), (0.4, None), NONE)
ENDS = {"self_play": 0.5, "fixed_pool": 0.2, "frozen": 0.02}


def trained(
    make: MakeResult, arm: str, seed: int, end: float, late: MakeResult | None = None
) -> Trained:
    results = make(0, 0.2), make(10, 0.25), make(20 + seed, end)
    others = (late(0, 0.2), late(20 + seed, end)) if late else ()
    return Trained(arm, seed, 20, results, HEALTH, Budget(4000, 3000), others)


@pytest.fixture
def arms(heldout_result: MakeResult, late_result: MakeResult) -> dict[str, list[Trained]]:
    return dict(
        by_arm(
            [
                trained(heldout_result, arm, seed, end, late=late_result)
                for arm, end in ENDS.items()
                for seed in (0, 1)
            ]
        )
    )


def test_the_page_says_in_words_what_is_shown_and_what_is_not(
    arms: dict[str, list[Trained]],
) -> None:
    gained, unchanged, lost = learned(arms)
    assert gained.startswith("full self-play: sampled ") and gained.count("a gain") == 2
    assert ", seeds +" in gained
    assert unchanged.count("no change is shown") == 2
    assert lost.count("a loss") == 2

    above_pool, _, contrast = compared(arms)
    assert contrast.startswith("frozen designer without memory above fixed pool")
    assert above_pool.startswith(
        "full self-play above fixed pool of the starting designer: held out"
    )
    assert above_pool.count("higher") == 4 and ", seeds +" in above_pool
    assert "on other arms' late designs" in above_pool

    said = method(arms)
    assert "3 arms, each with 2 seeds (0, 1) and 20 training steps" in said
    assert "64 held-out environments (`embedded`): 8 plays" in said
    assert "a test's, 2 cores" in said


def test_a_lead_that_is_turned_round_is_said_to_be_lower(arms: dict[str, list[Trained]]) -> None:
    swapped = {"self_play": arms["frozen"], "fixed_pool": arms["self_play"]}
    [said] = compared(swapped)
    assert "lower" in said and "higher" not in said


def test_a_lead_that_one_seed_does_not_have_is_not_called_shown(
    heldout_result: MakeResult,
) -> None:
    ends = {"self_play": (0.8, 0.5), "fixed_pool": (0.4, 0.51)}
    [said] = compared(
        by_arm(
            [
                trained(heldout_result, name, seed, end)
                for name, several in ends.items()
                for seed, end in enumerate(several)
            ]
        )
    )
    assert "the seeds disagree" in said and "higher" not in said


def test_an_arm_that_was_not_judged_on_the_late_designs_is_compared_on_the_fixed_set(
    arms: dict[str, list[Trained]], tmp_path: Path
) -> None:
    arms["frozen"] = [replace(one, others=()) for one in arms["frozen"]]
    above_pool, above_frozen, _ = compared(arms)
    assert "late designs" in above_pool and "late designs" not in above_frozen
    write(arms, tmp_path)


def test_every_arm_and_seed_has_its_row_and_the_seeds_together(
    arms: dict[str, list[Trained]],
) -> None:
    found = {title: rows for title, _, rows in tables(arms)}
    assert all(len(row) == len(columns) for _, columns, rows in tables(arms) for row in rows)
    changes, designs, budgets = (
        next(rows for title, rows in found.items() if title.startswith(name))
        for name in ("mean return", "designs", "budgets")
    )
    assert [row[:2] for row in changes[:3]] == [["self_play", name] for name in ("0", "1", "all")]
    assert len(changes) == len(designs) == 9 and len(budgets) == 6
    assert designs[2] == [
        *("self_play", "all", "0.90 -> 0.80", "1.00 -> 0.90", "0.20 -> 0.30"),
        *("0.70 -> 0.60", "0.40 -> -", "- -> -"),
    ]
    assert budgets[0] == ["self_play", "0", "20", "4,000", "3,000", "0.75"]
    leads = [rows for title, rows in found.items() if title.startswith("how far")]
    by_family = [[name, f"{name}, grammar by family"] for name in ("fixed_pool", "frozen")]
    assert [[row[0] for row in rows] for rows in leads] == [
        by_family[0] + by_family[1],
        ["fixed_pool", "frozen"],
    ]
    # on what neither of the two designed
    assert [row[-1] for row in leads[1]] == ["128", "64"]


def test_the_parts_of_the_set_that_ships_are_told_apart(
    heldout_result: MakeResult,
) -> None:
    one = trained(heldout_result, "self_play", 0, 0.4)
    names = (*UNTAUGHT, "walk", "nim")
    several = tuple(
        replace(
            result,
            environments=tuple(
                replace(each, family=names[place % 4])
                for place, each in enumerate(result.environments)
            ),
        )
        for result in one.results
    )
    mixed = replace(one, results=several)
    rows = next(rows for title, _, rows in tables(by_arm([mixed])) if "by part" in title)
    assert [row[:3] for row in rows] == [
        ["self_play", "grammar", "32"],
        ["self_play", "grammar, intervals by family", "2 families"],
        ["self_play", "seed library", "16"],
        ["self_play", "reasoning-gym", "16"],
    ]
    own = replace(several[0].protocol, data="mine.jsonl")
    elsewhere = tuple(replace(result, protocol=own) for result in several)
    assert parts([replace(one, results=elsewhere)]) == {}


def test_the_parts_are_those_that_the_set_is_made_of() -> None:
    there = {one.family for one in read_set("embedded").environments}
    assert (SEEDS, QUESTIONS) == UNTAUGHT
    assert set(UNTAUGHT) < there


def test_one_seed_of_one_arm_is_told_without_what_it_cannot_have(
    heldout_result: MakeResult, tmp_path: Path
) -> None:
    arms = by_arm([trained(heldout_result, "no_memory", 3, 0.4)])
    paths = write(arms, tmp_path)
    assert [path.name for path in paths] == [
        *("learning.json", "learning.svg", "changes.svg", "learning.md")
    ]
    page = paths[-1].read_text()
    assert "1 arm, each with 1 seed (3)" in page
    assert "ends above" not in page and "all seeds |" not in page


def test_pictures_of_all_arms_are_well_formed_and_stand_on_the_page(
    heldout_result: MakeResult, late_result: MakeResult, tmp_path: Path
) -> None:
    arms = by_arm(
        [
            trained(heldout_result, arm.name, seed, 0.3, late=late_result)
            for arm in ARMS
            for seed in range(3)
        ]
    )
    paths = write(arms, tmp_path)
    page = markdown(arms)
    assert page == paths[-1].read_text()
    pictures = [path for path in paths if path.suffix == ".svg"]
    for path in pictures:
        root = ET.parse(path)
        texts = {node.text for node in root.iter("{http://www.w3.org/2000/svg}text")}
        told = {arm.title for arm in ARMS if path.stem != "leads" or arm.name != "self_play"}
        assert told <= texts
        assert f"({path.name})" in page
    assert len(pictures) == 3
    assert len(json.loads(paths[0].read_text())) == 3 * len(ARMS)
