"""Helpers of the bench tests, handed out as fixtures."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.config import HeldoutConfig
from bench.heldout.results import Result
from memory import MemoryConfig
from sandbox import SandboxConfig
from solver.config import PolicyConfig, SolverConfig
from tests.bench import runs
from tests.bench.models import make_model


@pytest.fixture(scope="session")
def make_run() -> Callable[..., None]:
    """Publish a small run; see ``runs.make_run``."""
    return runs.make_run


@pytest.fixture(scope="session")
def heldout_result() -> Callable[[int, float], Result]:
    """Make a held-out result; see ``runs.heldout_result``."""
    return runs.heldout_result


@pytest.fixture(scope="session")
def late_result() -> Callable[[int, float], Result]:
    """Make a result on late designs; see ``runs.late_result``."""
    return runs.late_result


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model; see ``models.make_model``."""
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def schema() -> dict[str, type]:
    """The sections that the bench commands use."""
    return {
        "sandbox": SandboxConfig,
        "memory": MemoryConfig,
        "policy": PolicyConfig,
        "solver": SolverConfig,
        "heldout": HeldoutConfig,
    }
