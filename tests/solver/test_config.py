"""Recipes of the solver that no machine could follow are refused before anything is opened."""

from collections.abc import Callable

import pytest

from solver.config import PolicyConfig, TrainConfig
from solver.openrlhf.config import ClusterConfig


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (TrainConfig, {"groups": 10**9}, "groups = 1000000000 of group = 16 plays"),
        (TrainConfig, {"group": 10**12}, "more than the 1000000"),
        (TrainConfig, {"threads": 10**6}, "threads = 1000000 must be at most 1024"),
        (PolicyConfig, {"threads": 10**30}, "must be at most 1024"),
        (ClusterConfig, {"design_rows": 10**9}, "design_rows = 1000000000 are more than"),
        (ClusterConfig, {"rollouts": 10**9}, "more than the 1000000"),
    ],
)
def test_more_than_could_be_held_is_refused(
    kind: Callable[..., object], values: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**values)
