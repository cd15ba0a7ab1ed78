"""Rows and batches of a rollout, and settings that OpenRLHF cannot honour."""

from collections.abc import Callable
from typing import Any

import pytest

from solver.openrlhf.config import ClusterConfig
from spadekit.errors import BadInput
from spadekit.settings import Settings

Shaped = Callable[..., Any]
Configured = Callable[..., Settings]


def test_a_rollout_is_whole_rows_in_whole_batches(configured: Configured, shaped: Shaped) -> None:
    laid = shaped(configured("cluster.rollouts=2", "train.solver_updates=4"))
    assert (laid.play_rows, laid.design_rows, laid.row, laid.updates) == (2, 2, 4, 2)
    assert (laid.rows, laid.samples, laid.batch) == (4, 16, 8)


def test_a_row_has_room_for_every_turn_that_is_a_sequence_of_its_own(
    configured: Configured, shaped: Shaped
) -> None:
    laid = shaped(configured(), separate=True)
    assert (laid.plays, laid.row) == (4, 4 * 4)


def test_a_role_without_weight_has_no_rows(configured: Configured, shaped: Shaped) -> None:
    assert shaped(configured("train.designer_weight=0")).design_rows == 0
    assert shaped(configured("train.solver_weight=0")).play_rows == 0
    with pytest.raises(BadInput, match="nothing to train"):
        shaped(configured("train.designer_weight=0", "train.solver_weight=0"))


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("train.optimiser=separate", 'train.optimiser = "separate" must be "shared"'),
        ("train.aggregation=dr_grpo", 'train.aggregation = "dr_grpo" must be "token-mean"'),
        ("solver.top_p=0.9", "training needs samples of the whole distribution"),
        ("train.advantages=scaled", 'train.advantages = "scaled" must be "centred"'),
        ("train.lora_rank=8", "train.lora_rank = 8: OpenRLHF does not bring adapters"),
        ("solver.temperature=0", "solver.temperature = 0: greedy"),
        ("solver.context=400", "solver.context = 400 exceeds cluster.context = 300"),
        ("cluster.rollouts=3", "train.groups = 4 cannot be dealt to cluster.rollouts = 3"),
        ("cluster.design_rows=3", "change train.groups, train.group or cluster.design_rows"),
    ],
)
def test_what_openrlhf_cannot_do_is_refused_in_a_line_that_names_the_setting(
    configured: Configured, shaped: Shaped, setting: str, told: str
) -> None:
    with pytest.raises(BadInput, match=told.replace("(", r"\(")):
        shaped(
            configured(setting, "cluster.micro_batch=3")
            if "rows" in setting
            else configured(setting)
        )


def test_gpus_that_do_not_add_up_are_refused_with_the_section() -> None:
    with pytest.raises(
        ValueError, match=r"nodes x gpus = 8 must equal engines x tensor_parallel = 4"
    ):
        ClusterConfig(engines=4)
    with pytest.raises(ValueError, match="packing needs flash attention"):
        ClusterConfig(attention="sdpa")
