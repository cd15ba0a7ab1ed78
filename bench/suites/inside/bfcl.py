"""Inside the jail: the checkers and the simulated programs of the BFCL package, which ``eval`` calls.

Only ``bfcl_eval.eval_checker`` and ``bfcl_eval.constants`` are mounted: no question and no answer is in
reach of a call. What the checkers import besides is a register of models, of which one field is read,
and converters for Java and JavaScript, whose questions are not asked.
"""

import importlib
import sys
import types
from typing import Any


class AnyModel(dict[str, Any]):
    """A register that knows every model, and that its functions keep the dots in their names."""

    def __missing__(self, name: str) -> Any:
        return types.SimpleNamespace(underscore_to_dot=False, is_fc_model=True)


def provide(name: str, **values: Any) -> None:
    module = types.ModuleType(name)
    vars(module).update(values)
    sys.modules[name] = module


provide("bfcl_eval.constants.model_config", MODEL_CONFIG_MAPPING=AnyModel())
for language in ("java", "js"):
    provide(
        f"bfcl_eval.eval_checker.ast_eval.type_convertor.{language}_type_converter",
        **{f"{language}_type_converter": None},
    )

CHECKERS = "bfcl_eval.eval_checker"


def answer(request: dict[str, Any]) -> Any:
    return {"compare": compare, "call": call, "grade": grade}[request["do"]](request)


def compare(request: dict[str, Any]) -> Any:
    """Whether single-turn calls are among the possible answers."""
    checker = importlib.import_module(f"{CHECKERS}.ast_eval.ast_checker")
    enums = importlib.import_module("bfcl_eval.constants.enums")
    try:
        found = checker.ast_checker(
            request["functions"],
            request["calls"],
            request["truth"],
            enums.Language.PYTHON,
            request["category"],
            "model",
        )
    except Exception:  # the checker takes some wrong types of argument for granted
        return {"valid": False}
    return {"valid": bool(found["valid"])}


def call(request: dict[str, Any]) -> Any:
    """Execute the calls of one step; the state lives as long as this process."""
    utils = importlib.import_module(f"{CHECKERS}.multi_turn_eval.multi_turn_utils")
    results, _ = utils.execute_multi_turn_func_call(
        request["calls"],
        request["initial"],
        request["classes"],
        "model",
        request["id"],
        long_context=request["long"],
    )
    return {"results": [str(result) for result in results]}


def grade(request: dict[str, Any]) -> Any:
    """Play all calls and the true ones again, and compare states and results turn by turn."""
    checker = importlib.import_module(f"{CHECKERS}.multi_turn_eval.multi_turn_checker")
    entry = {
        "id": request["id"],
        "initial_config": request["initial"],
        "involved_classes": request["classes"],
    }
    category = request["id"].rsplit("_", 1)[0]
    try:
        found = checker.multi_turn_checker(
            request["turns"], request["truth"], entry, category, "model"
        )
    except Exception:
        return {"valid": False}
    return {"valid": bool(found["valid"])}
