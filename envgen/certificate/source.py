"""Checks of the source text by its syntax tree alone; nothing is run here."""

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sandbox
from envgen.certificate.record import Check

PROVIDED = frozenset({"envkit", "tool_use_base_env"})
ADAPTED = "ToolUseBaseEnv"
"""The reference project's base class: whatever module it is imported from, the jail has its own."""
SURROUNDINGS = frozenset({"time", "datetime", "calendar", "os", "posix", "uuid"})
ROUNDABOUT = frozenset({"__import__", "importlib", "exec", "eval", "globals", "sys", "logging"})
"""Names that reach a clock by another way."""
WALKERS = frozenset(
    {
        "list",
        "tuple",
        "join",
        "choice",
        "choices",
        "sample",
        "enumerate",
        "iter",
        "map",
        "zip",
        "str",
    }
)


@dataclass(frozen=True)
class SourceFacts:
    """What the tree tells about how to test.

    ``hashes``: the order of sets could matter; ``looks_around``: a clock or a process id could;
    ``draws``: so could the state of the generator that ``random`` shares, which is never seeded;
    ``on_reply``: instructions wait for a reply in words.
    """

    hashes: bool
    looks_around: bool
    draws: bool = False
    on_reply: bool = False


def check_source(source: str, max_bytes: int) -> tuple[Check, SourceFacts | None]:
    """Return the ``source`` check, and the facts when it passed.

    Size in UTF-8 bytes, one top-level public class whose name ends in ``Env``, imports from the
    standard library (an import within ``try`` may fail and is not refused). The kernel is the
    boundary, not this list: it spares a jail to sources that cannot load.
    """
    size = len(source.encode("utf-8", "replace"))
    evidence: dict[str, Any] = {"bytes": size}
    problem: str | None = None
    nodes: list[ast.AST] = []
    if not source.strip():
        problem = "the source is empty; write one Python file with one class ending in Env"
    elif size > max_bytes:
        problem = f"the source has {size} bytes; at most {max_bytes} are allowed, so shorten it"
    else:
        try:
            sandbox.check_source(source, max_bytes)
            tree = ast.parse(source)
            nodes = list(ast.walk(tree))
            problem = _problem(tree, nodes, evidence)
        except sandbox.EnvironmentFault as fault:
            problem = f"{fault.detail}; the file must be valid Python, so simplify it"
        except SyntaxError as error:
            problem = f"line {error.lineno or 1}: {error.msg}; the file must be valid Python"
        except (ValueError, RecursionError, MemoryError) as error:
            problem = f"the source cannot be parsed ({type(error).__name__}); simplify it"
    if problem:
        return Check("source", "fail", problem, evidence), None
    name = evidence["classes"][0]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    looks_around = bool(_imports(nodes) & SURROUNDINGS or names & ROUNDABOUT)
    on_reply = any(isinstance(node, ast.Constant) and node.value == "on_reply" for node in nodes)
    facts = SourceFacts(_order_of_sets(nodes), looks_around, _draws(nodes), on_reply)
    return Check("source", "pass", f"parses; one class, {name}", evidence), facts


def _problem(tree: ast.Module, nodes: Sequence[ast.AST], evidence: dict[str, Any]) -> str | None:
    classes = [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and node.name.endswith("Env")
        and not node.name.startswith("_")
    ]
    evidence |= {"classes": classes, "imports": sorted(_imports(nodes))}
    if not classes:
        return "no public class whose name ends in Env; write, say, class CanalLocksEnv"
    if len(classes) > 1:
        names = ", ".join(classes)
        return f"{len(classes)} classes end in Env ({names}); keep one, prefix others with _"
    for name, line in _foreign_imports(tree):
        return (
            f"line {line}: {name} is not in the standard library; "
            "use the standard library (and envkit) only"
        )
    return None


def _foreign_imports(tree: ast.Module) -> list[tuple[str, int]]:
    """Imports at the top level, outside ``try``, of modules that the jail does not have."""
    found = []
    for node in tree.body:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and ADAPTED not in [a.name for a in node.names]:
            names = ["." * node.level + (node.module or "")]
        for name in names:
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names and top not in PROVIDED:
                found.append((name, node.lineno))
    return found


def _imports(nodes: Sequence[ast.AST]) -> set[str]:
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or ".").partition(".")[0])
    return names


def _draws(nodes: Sequence[ast.AST]) -> bool:
    """Whether functions of the module ``random`` are used, and its ``seed`` is not."""
    names, imported = set(), set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {a.asname or a.name for a in node.names if a.name == "random"}
        elif isinstance(node, ast.ImportFrom) and node.module == "random":
            imported |= {alias.name for alias in node.names}
    used = imported | {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and _name(node.value) in names
    }
    return "seed" not in used and any(name[:1].islower() for name in used)


def _order_of_sets(nodes: Sequence[ast.AST]) -> bool:
    """Whether ``hash`` is used, or something that was once a set is walked through or printed."""
    sets = {
        name
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value
        and _is_set(node.value, set())
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for name in [_name(target)]
        if name
    }
    for node in nodes:
        walked: list[ast.expr] = []
        if isinstance(node, ast.For | ast.comprehension):
            walked = [node.iter]
        elif isinstance(node, ast.FormattedValue | ast.Starred):
            walked = [node.value]
        elif isinstance(node, ast.Call):
            called = _name(node.func)
            if called == "hash":
                return True
            if called in WALKERS:
                walked = list(node.args)
            if called == "pop" and isinstance(node.func, ast.Attribute):
                walked = [node.func.value]
        if any(_is_set(expression, sets) for expression in walked):
            return True
    return False


def _is_set(node: ast.expr, known: set[str]) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_set(node.left, known) or _is_set(node.right, known)
    if isinstance(node, ast.Call):
        return _name(node.func) in ("set", "frozenset")
    return isinstance(node, ast.Set | ast.SetComp) or _name(node) in known


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""
