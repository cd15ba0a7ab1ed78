"""Whether a program is new: its normalised tree is not among those of the training programs.

The training programs, those that were designed and those that were played, are not shipped; they are
drawn again from the seed, which takes some minutes.
"""

import ast
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from solver.embedded import data
from solver.manifest import SHIPPED


def digest(source: str) -> str:
    """Return a digest of a program without its docstrings, layout and names; constants count.

    Raises ``SyntaxError`` for what is not Python.
    """
    tree = ast.parse(source)
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        for field in _NAMED.get(type(node), ()):
            value = getattr(node, field)
            if isinstance(value, str):
                setattr(node, field, names.setdefault(value, f"v{len(names)}"))
        body = getattr(node, "body", None)
        if isinstance(body, list) and len(body) > 1 and _is_text(body[0]):
            del body[0]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:20]


_NAMED: dict[type, tuple[str, ...]] = {
    ast.Name: ("id",),
    ast.Attribute: ("attr",),
    ast.arg: ("arg",),
    ast.FunctionDef: ("name",),
    ast.ClassDef: ("name",),
}


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def training_digests(facts: Mapping[str, Any]) -> frozenset[str]:
    """Return the digests of all programs that a run trained on, from the facts in its manifest.

    Those that were played count as those that were designed: a program's text is not in the play, but
    its answers are. Ranks draw their pools at slightly different speeds; two more pools a rank cover that.
    """
    seed, sizes = int(facts["seed"]), facts["pool_size"]
    return frozenset(
        digest(program.source)
        for role, pools in facts["pools"].items()
        for rank in range(int(facts["ranks"]))
        for program in data.programs(seed, role, rank, int(pools) + 2, int(sizes[role]))
    )


def shipped_facts(folder: Path = SHIPPED) -> dict[str, Any]:
    """Return the facts of the run that made the shipped weights."""
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    facts: dict[str, Any] = manifest["run"]
    return facts
