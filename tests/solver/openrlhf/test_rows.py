"""Steps cut into rows: nothing lost, nothing compared with what it does not belong to."""

import random
from collections import Counter

import pytest
import torch

from memory import PlayRecord
from solver.advantages import centred
from solver.config import TrainConfig
from solver.episodes import Job
from solver.openrlhf.layout import Layout
from solver.openrlhf.rows import (
    Row,
    Shown,
    balance,
    compared,
    deal_designs,
    deal_plays,
    fill,
    pulls,
    tokens_of_a_play,
    worth_showing,
)
from solver.samples import Batch, Sample
from spadekit.errors import BadInput

LAYOUT = Layout(play_rows=2, design_rows=2, row=4, plays=4, updates=1)


def sample(baseline: str, reward: float, tokens: int = 3) -> Sample:
    ids = tuple(range(2 + tokens))
    mask = (0, 0) + (1,) * tokens
    return Sample(f"{baseline}-brief", baseline, ids, mask, (-0.5,) * len(ids), reward, 1.0, 0)


def jobs(groups: int, each: int = 4) -> list[Job]:
    return [Job(f"env{n}", "source", n, None, m) for n in range(groups) for m in range(each)]


def test_a_row_survives_the_way_through_a_file() -> None:
    shown = Shown((1, 2, 3), (0, 1, 1), (0.0, -0.5, -1.5), 0.25, 0.75, True)
    row = Row(tuple(jobs(1)), (shown,), 1.5, 7, ("weights", "digest"))
    assert Row.read(row.dump()) == row
    assert Row.read(Row().dump()) == Row()


def test_groups_of_plays_stay_whole_and_are_dealt_to_the_rollouts_in_turn() -> None:
    dealt = deal_plays(jobs(5), 4, 2, Row(scale=2.0, version=3))
    assert [[row.jobs[0].environment for row in rows] for rows in dealt] == [
        ["env0", "env2", "env4"],
        ["env1", "env3"],
    ]
    assert all(len({job.environment for job in row.jobs}) == 1 for rows in dealt for row in rows)
    assert {(row.scale, row.version) for rows in dealt for row in rows} == {(2.0, 3)}


def test_designs_of_a_skill_are_compared_with_each_other_and_with_nothing_else() -> None:
    samples = [sample("a", 1.0), sample("b", 0.2), sample("a", 0.0), sample("b", 0.4)]
    (first, second) = compared(samples, 4)
    assert [advantage for _, advantage in first] == [0.5, -0.5]
    assert [advantage for _, advantage in second] == pytest.approx([-0.1, 0.1])


def test_more_designs_of_a_skill_than_a_row_holds_are_dealt_to_parts_of_like_size() -> None:
    parts = compared([sample("a", n / 10) for n in range(9)], 4)
    assert [len(part) for part in parts] == [3, 3, 3]
    assert all(abs(sum(advantage for _, advantage in part)) < 1e-12 for part in parts)


def test_every_row_of_designs_sums_to_zero_and_none_is_lost() -> None:
    rng = random.Random(0)
    samples = [sample(rng.choice("abcd"), rng.random()) for _ in range(14)]
    layout = Layout(play_rows=0, design_rows=3, row=4, plays=4, updates=1)
    dealt = deal_designs(worth_showing(compared(samples, 4), 0.0), layout, 2)
    shown = [one for rows in dealt for row in rows for one in row.designs]
    assert Counter(one.score for one in shown) == Counter(one.reward for one in samples)
    for rows in dealt:
        for row in rows:
            assert 0 < len(row.designs) <= 4
            assert abs(sum(one.advantage for one in row.designs)) < 1e-12


def test_designs_that_were_all_paid_the_same_are_shown_only_where_a_kl_term_moves_them() -> None:
    parts = compared([sample("a", 0.1), sample("a", 0.1), sample("b", 1.0), sample("b", 0.0)], 4)
    assert [len(part) for part in worth_showing(parts, 0.0)] == [2]
    assert [len(part) for part in worth_showing(parts, 0.005)] == [2, 2]


def test_designs_that_the_rows_cannot_hold_are_refused_with_the_setting_to_raise() -> None:
    parts = compared([sample(name, n) for name in "abc" for n in range(4)], 4)
    with pytest.raises(BadInput, match=r"12 designs .* need 3 rows .* cluster.design_rows = 2"):
        deal_designs(parts, LAYOUT, 1)


def test_rows_without_work_are_empty_ones_and_roles_keep_their_places() -> None:
    plays = [Row(jobs=tuple(jobs(1)))]
    rows = fill(plays, [], LAYOUT)
    assert rows == [plays[0], Row(), Row(), Row()]


TRAIN = TrainConfig(solver_weight=1.0, designer_weight=0.5)


def own_means(rows: list[Row], each: float) -> tuple[float, float]:
    """What the mean over all tokens of a rollout makes of a mean of 1 of the plays, of the designs."""
    padding = sum(LAYOUT.row - len(one.designs) for one in rows if not one.jobs)
    plays = [(row.scale, each) for row in rows for _ in row.jobs]
    designs = [(row.scale, sum(one.mask)) for row in rows for one in row.designs]
    total = padding + sum(tokens for _, tokens in plays + designs)
    ours, theirs = (sum(scale * tokens for scale, tokens in one) for one in (plays, designs))
    return ours / total, theirs / total


@pytest.mark.parametrize("behind", [1.0, 2.0])
def test_a_mean_over_all_tokens_is_the_sum_of_the_roles_own_means_in_every_rollout(
    behind: float,
) -> None:
    """Of three parts of designs dealt to two rollouts one has two, and one rollout more plays."""
    samples = [sample(name, n, tokens=20) for name in "abc" for n in range(2)]
    designs = deal_designs(compared(samples, 2), LAYOUT, 4)
    plays = deal_plays(jobs(5), 4, 4, Row())
    weights = pulls(20, Batch(tuple(samples)), TRAIN)
    assert weights == (1.0, 0.5)
    for own, others in zip(plays, designs, strict=True):
        rows = balance(fill(own, others, LAYOUT), LAYOUT, 7.0, behind, weights)
        expected = 0.5 / behind if others else 0.0
        assert own_means(rows, 7.0) == pytest.approx((1.0, expected))


def test_a_few_designs_do_not_speak_as_loud_as_thousands_of_plays() -> None:
    designs = Batch((sample("a", 0.0), sample("a", 1.0)))
    assert pulls(10_000, designs, TrainConfig())[1] == pytest.approx(50 * 2 / 10_000)


def play(arm: str, mask: tuple[int, ...], fault: str = "") -> PlayRecord:
    zeros = (0.0,) * len(mask)
    ids = (1,) * len(mask)
    return PlayRecord(
        *("id", "env", 0, arm, "probe", None if fault else 1.0, 1, fault, "terminated", 0, 1.0),
        *(ids, mask, zeros, "[]"),
    )


@pytest.mark.parametrize(
    ("plays", "expected"),
    [
        ([], 64.0),
        ([("hinted", (1, 1, 1), ""), ("unhinted", (1, 1, 1), "step:raised")], 64.0),
        ([("unhinted", (0, 1, 1), ""), ("unhinted", (0, 1, 1, 1, 1), "")], 3.0),
        ([("unhinted", (0, 0), "")], 64.0),
    ],
)
def test_plays_to_come_are_foreseen_from_those_of_the_shard(
    plays: list[tuple[str, tuple[int, ...], str]], expected: float
) -> None:
    assert tokens_of_a_play([play(*one) for one in plays], 64.0) == expected


def test_centring_again_as_dr_grpo_does_changes_nothing_in_single_precision() -> None:
    rewards = centred([0.1] * 7 + [0.3], ["one"] * 8)
    rows = torch.tensor(rewards, dtype=torch.float32)
    assert torch.allclose(rows - rows.mean(), torch.tensor(rewards), atol=1e-7)
    same = torch.tensor(centred([0.1] * 8, ["one"] * 8), dtype=torch.float32)
    assert ((same - same.mean()) == 0).all()
