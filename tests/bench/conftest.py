"""Helpers of the bench tests, handed out as fixtures: test folders are no packages."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from bench.config import HeldoutConfig
from bench.heldout.results import Result
from memory import MemoryConfig
from sandbox import SandboxConfig
from solver.config import PolicyConfig, SolverConfig


def _sibling(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        f"bench_{name}", Path(__file__).with_name(f"{name}.py")
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def make_run() -> Callable[..., None]:
    """Publish a small run; see ``runs.make_run``."""
    made: Callable[..., None] = _sibling("runs").make_run
    return made


@pytest.fixture(scope="session")
def heldout_result() -> Callable[[int, float], Result]:
    """Make a held-out result; see ``runs.heldout_result``."""
    made: Callable[[int, float], Result] = _sibling("runs").heldout_result
    return made


@pytest.fixture(scope="session")
def late_result() -> Callable[[int, float], Result]:
    """Make a result on late designs; see ``runs.late_result``."""
    made: Callable[[int, float], Result] = _sibling("runs").late_result
    return made


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model; see ``models.make_model``."""
    folder: Path = _sibling("models").make_model(tmp_path_factory.mktemp("model"))
    return folder


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
