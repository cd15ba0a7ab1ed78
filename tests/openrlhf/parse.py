"""A program: OpenRLHF's own parser and its own checks on a command line; prints what it read as JSON.

    PYTHONPATH=openrlhf-0.11.2-*.whl/openrlhf-0.11.2.data/purelib python parse.py --actor.num_nodes 1 ...

Runs the real ``openrlhf.cli.train_ppo_ray`` up to where it would begin to work, straight from the wheel. The
libraries that it imports on the way and does not need to parse are empty modules here.
"""

import importlib.util
import json
import runpy
import sys
from types import ModuleType
from typing import Any

EMPTY = {
    "ray": (),
    "ray.util": (),
    "ray.util.placement_group": ("placement_group",),
    "openrlhf.trainer.ray": ("create_vllm_engines",),
    "openrlhf.trainer.ray.launcher": ("RayActorGroup", "ReferenceModelActor", "RewardModelActor"),
    "openrlhf.trainer.ray.ppo_actor": ("PolicyModelActor",),
    "openrlhf.trainer.ray.ppo_critic": ("CriticModelActor",),
}


class Parsed(Exception):
    """Thrown where the work would begin, with what was parsed."""


def begin(args: Any) -> None:
    raise Parsed(args)


def plain(value: Any) -> Any:
    if hasattr(value, "__dict__"):
        return {key: plain(item) for key, item in vars(value).items()}
    return value


def main() -> None:
    found = importlib.util.find_spec("openrlhf")
    assert found is not None and found.submodule_search_locations
    root = found.submodule_search_locations[0]
    for name, attributes in EMPTY.items():
        module = sys.modules[name] = ModuleType(name)
        module.__path__ = []
        for attribute in attributes:
            setattr(module, attribute, None)
    sys.modules["ray"].is_initialized = lambda: True  # type: ignore[attr-defined]
    utils = sys.modules["openrlhf.utils"] = ModuleType("openrlhf.utils")
    utils.__path__ = [f"{root}/utils"]  # the real `config` in it, without what `__init__` imports
    utils.get_strategy = begin  # type: ignore[attr-defined]
    try:
        runpy.run_module("openrlhf.cli.train_ppo_ray", run_name="__main__")
    except Parsed as parsed:
        sys.stdout.write("\n" + json.dumps(plain(parsed.args[0]), default=str) + "\n")


if __name__ == "__main__":
    main()
