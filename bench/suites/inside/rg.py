"""Inside the jail: makes questions of reasoning-gym and marks answers with the package's own scorers.

An entry goes out as a sealed text (a pickle in base64) that only a jail ever opens again: the details
that scorers need are tuples, sets and objects that JSON does not know.
"""

import base64
import importlib.machinery
import json
import os
import pickle
import random
import sys
import types
from typing import Any

# A jail's process has one thread.
os.environ["OPENBLAS_NUM_THREADS"] = "1"


class Undrawn(types.ModuleType):
    """Stands for a module that some packages draw pictures with, and import with everything else."""

    __path__ = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class Drawing:
    """Finds the modules that draw, and loads none of them."""

    packages = ("matplotlib", "mpl_toolkits", "drawsvg", "rich")

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] in self.packages:
            return importlib.machinery.ModuleSpec(name, DRAWING, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        return Undrawn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


DRAWING: Any = Drawing()
sys.meta_path.insert(0, DRAWING)


def answer(request: dict[str, Any]) -> Any:
    import numpy
    import reasoning_gym

    # codeio runs programs that draw from the generators that all share.
    random.seed(request["seed"])
    numpy.random.seed(request["seed"])
    task, config = request["task"], request["config"]
    data = reasoning_gym.create_dataset(task, size=1, seed=request["seed"], **config)
    if request["do"] == "make":
        entry = data[0]
        sealed = base64.b64encode(pickle.dumps(entry)).decode()
        gold = entry["answer"]
        # Where any of many answers will do, most tasks give one of them elsewhere.
        for other in ("example_answer", "possible_answer", "example_correct_answer"):
            gold = gold or entry.get("metadata", {}).get(other)
        return {
            "question": str(entry["question"]),
            "gold": json.dumps(gold) if isinstance(gold, dict) else gold and str(gold),
            "sealed": sealed,
        }
    entry = pickle.loads(base64.b64decode(request["sealed"]))  # noqa: S301 - a jail's own
    return {"score": mark(data, task, request["answer"], entry)}


def mark(data: Any, task: str, given: str, entry: Any) -> float:
    if task == "game_of_life_halting" and given.strip().lower() not in ("true", "false"):
        # The scorer gives full marks to whatever is not "True" where the answer is False.
        return 0.0
    try:
        return float(data.score_answer(given, entry))
    except Exception:  # prime_factorization, for one, fails on what is no number
        return 0.0
