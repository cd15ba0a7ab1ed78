"""The questions of BFCL v4 as the package ``bfcl-eval`` carries them, and tools in OpenAI's form.

The package is read, never imported: it would bring forty others and an old numpy with it. What is read
is the folder ``bfcl_eval`` of its wheel.
"""

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.suites.jail import Unavailable, package_folders
from spadekit.errors import BadInput

VERSION = "BFCL_v4"
DOCS = {
    "GorillaFileSystem": "gorilla_file_system.json",
    "MathAPI": "math_api.json",
    "MessageAPI": "message_api.json",
    "TwitterAPI": "posting_api.json",
    "TicketAPI": "ticket_api.json",
    "TradingBot": "trading_bot.json",
    "TravelAPI": "travel_booking.json",
    "VehicleControlAPI": "vehicle_control.json",
}
"""Where the functions of each simulated program are described."""
JSON_TYPES = {
    **dict.fromkeys(("integer", "byte", "short", "long"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple"), "array"),
    **dict.fromkeys(("dict", "object"), "object"),
}
"""The package's words for types in JSON schema's; all others are text."""
INSTALL = (
    "`pip install --no-deps bfcl-eval`, or unpack its wheel and name the folder with suites.bfcl"
)

Entry = dict[str, Any]


def folder_of(where: str) -> Path:
    """Return the folder ``bfcl_eval``: below ``where``, or of the installed package."""
    if where:
        place = Path(where).expanduser()
        for one in (place, place / "bfcl_eval"):
            if (one / "data").is_dir():
                return one
        raise Unavailable(f"{where} holds no bfcl_eval/data; {INSTALL}")
    try:
        [found] = package_folders("bfcl_eval")
    except Unavailable:
        raise Unavailable(f"the package bfcl-eval is not installed; {INSTALL}") from None
    return found


def revision_of(folder: Path) -> str:
    """Return a digest of the questions and answers, so that another release is another benchmark."""
    digest = hashlib.sha256()
    for path in sorted((folder / "data").rglob(f"{VERSION}_*.json")):
        digest.update(path.read_bytes())
    return f"bfcl-eval sha256:{digest.hexdigest()[:16]}"


def entries(folder: Path, category: str) -> Iterator[tuple[Entry, Any]]:
    """Yield the entries of a category, and the true answer of each (None where there is none)."""
    truths = {}
    answers = folder / "data" / "possible_answer" / f"{VERSION}_{category}.json"
    if answers.is_file():
        truths = {one["id"]: one["ground_truth"] for one in _lines(answers)}
    for entry in _lines(folder / "data" / f"{VERSION}_{category}.json"):
        yield entry, truths.get(entry["id"])


def functions_of(folder: Path, entry: Entry) -> tuple[list[Entry], dict[int, list[Entry]]]:
    """Return the functions of a multi-turn entry, and those that join at a later turn."""
    functions = [
        one
        for name in entry["involved_classes"]
        for one in _lines(folder / "data" / "multi_turn_func_doc" / DOCS[name])
    ]
    later: dict[int, list[Entry]] = {}
    for turn, names in entry.get("missed_function", {}).items():
        later[int(turn)] = [one for one in functions if one["name"] in names]
        functions = [one for one in functions if one["name"] not in names]
    return functions, later


def tool(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function's description as a tool in OpenAI's form; its name keeps its dots."""
    parameters = copy.deepcopy(dict(function["parameters"]))
    parameters["type"] = "object"
    parameters["properties"] = {
        name: _schema(value) for name, value in parameters.get("properties", {}).items()
    }
    described = {
        "name": function["name"],
        "description": function.get("description", ""),
        "parameters": parameters,
    }
    return {"type": "function", "function": described}


def _schema(value: Mapping[str, Any]) -> dict[str, Any]:
    made = {**value, "type": JSON_TYPES.get(value.get("type", ""), "string")}
    if value.get("type") == "float":
        made["description"] = f"{value.get('description', '')} This is a float type value.".strip()
    if isinstance(value.get("properties"), dict):
        made["properties"] = {name: _schema(one) for name, one in value["properties"].items()}
    if isinstance(value.get("items"), dict):
        made["items"] = _schema(value["items"])
    return made


def _lines(path: Path) -> list[Entry]:
    try:
        return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path}: cannot be read ({error}); unpack bfcl-eval 2026.3.23 again"
        ) from None
