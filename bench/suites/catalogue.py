"""All suites by name, in the paper's order, and how each is loaded."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from bench.suites import aime, bfcl, gpqa, harness, livecodebench, reasoning_gym
from bench.suites.config import SuitesConfig
from bench.suites.jail import Jails
from bench.suites.suite import Group, Suite

Load = Callable[[SuitesConfig, Path, Jails], Suite]


def _aime(name: str, config: SuitesConfig, kept: Path, jails: Jails) -> Suite:
    return aime.load(name, getattr(config, name), kept)


def _gpqa(config: SuitesConfig, kept: Path, jails: Jails) -> Suite:
    return gpqa.load(config.gpqa_diamond, kept, config.seed)


def _livecodebench(config: SuitesConfig, kept: Path, jails: Jails) -> Suite:
    return livecodebench.load(config.livecodebench, kept, jails)


def _reasoning_gym(name: str, config: SuitesConfig, kept: Path, jails: Jails) -> Suite:
    return reasoning_gym.load(name, config.seed, config.reasoning_gym_each, jails)


def _bfcl(name: str, config: SuitesConfig, kept: Path, jails: Jails) -> Suite:
    return bfcl.load(name, config.bfcl, jails)


SUITES: Final[Mapping[str, tuple[Group, Load]]] = {
    "aime_2025": ("reasoning", partial(_aime, "aime_2025")),
    "aime_2026": ("reasoning", partial(_aime, "aime_2026")),
    "gpqa_diamond": ("reasoning", _gpqa),
    "livecodebench_v6": ("reasoning", _livecodebench),
    **{
        name: ("reasoning", partial(_reasoning_gym, name))
        for name in ("rg_math", "rg_algorithmic", "rg_cognition", "rg_logic")
    },
    **{name: ("tools", partial(_bfcl, name)) for name in bfcl.CATEGORIES},
    "acebench_agent": ("tools", harness.acebench),
    "tau2": ("tools", harness.tau2),
}
GROUPS: Final[tuple[Group, ...]] = ("reasoning", "tools")
