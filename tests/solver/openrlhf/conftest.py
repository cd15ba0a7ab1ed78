"""Settings of the cluster backend that are small enough for tests."""

from collections.abc import Callable
from typing import Any

import pytest

from spadekit.settings import Settings, load
from spadework import RECIPES, SECTIONS

SMALL = (
    "train.optimiser=shared",
    "train.kl=0",
    "train.groups=4",
    "train.group=4",
    "train.solver_updates=2",
    "solver.temperature=0.7",
    "solver.max_tokens=10",
    "solver.max_turns=4",
    "solver.context=200",
    "cluster.context=300",
    "cluster.design_rows=2",
    "cluster.gpus=1",
    "cluster.engines=1",
)


@pytest.fixture
def configured() -> Callable[..., Settings]:
    """Read the default recipe with settings that OpenRLHF can do, and whatever a test adds."""

    def read(*overrides: str) -> Settings:
        return load(RECIPES / "embedded.toml", (*SMALL, *overrides), SECTIONS)

    return read


@pytest.fixture
def shaped() -> Callable[..., Any]:
    """Make the layout of settings."""
    from solver.openrlhf.layout import layout

    return lambda settings, separate=False: layout(settings, separate)
