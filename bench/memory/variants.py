"""Mechanical variants of a program: other text, the same task. Each is drawn by a seed."""

import ast
import builtins
import random
import re
from collections.abc import Callable

_TEXT = """
alpha bravo carbon delta falcon garnet hazel island jigsaw kernel lumen marble nectar opal pepper
quartz raven saffron timber umber velvet willow xenon yonder zephyr
"""
NOUNS = tuple(_TEXT.split())
# The sandbox and envkit know these by name; renaming them would make another program of it.
_FIXED = frozenset(
    {
        *dir(builtins),
        *("self", "reset", "step", "seed", "action", "solution", "max_turns", "kwargs"),
        *("ToolUseEnv", "build", "ask", "until", "never", "state", "advance"),
    }
)


def renamed(source: str, chance: random.Random) -> str:
    """Give every name of the program's own another one."""
    tree = ast.parse(source)
    own = sorted(name for name in _own(tree) - _FIXED if not name.startswith("__"))
    pool = [f"{one}_{two}" for one in NOUNS for two in NOUNS]
    names = dict(zip(own, chance.sample(pool, len(own)), strict=True))
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name"):
            value = getattr(node, field, None)
            if isinstance(value, str) and value in names:
                suffix = "Env" if isinstance(node, ast.ClassDef) else ""
                setattr(node, field, names[value] + suffix)
    return ast.unparse(tree)


def reformatted(source: str, chance: random.Random) -> str:
    """Lay the text out anew: other indentation, blank lines, no comments or docstrings."""
    lines = ast.unparse(_without_docstrings(ast.parse(source))).split("\n")
    step = chance.choice(("  ", "\t", "        "))
    out = []
    for line in lines:
        depth = (len(line) - len(line.lstrip(" "))) // 4
        if chance.random() < 0.1:
            out.append("")
        out.append(step * depth + line.lstrip(" "))
    return "\n".join(out) + "\n"


def recounted(source: str, chance: random.Random) -> str:
    """Change numbers and words."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
            continue
        if isinstance(node.value, int) and abs(node.value) > 1:
            node.value += chance.choice((-1, 1, 2, 5))
        elif isinstance(node.value, float):
            node.value = round(node.value * chance.choice((0.5, 1.5)), 3)
        elif isinstance(node.value, str) and len(node.value) > 3 and chance.random() < 0.7:
            node.value = " ".join(chance.choices(NOUNS, k=1 + len(node.value.split())))
    return ast.unparse(tree)


def reordered(source: str, chance: random.Random) -> str:
    """Put the methods of each class, and the functions of the module, in another order."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            rest = [item for item in node.body if not isinstance(item, ast.FunctionDef)]
            chance.shuffle(methods)
            node.body = [*rest, *methods]
    return ast.unparse(tree)


def padded(source: str, chance: random.Random) -> str:
    """Add comments, a method that nobody calls, and statements without effect."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name.endswith("Env"):
            name, key = chance.sample(NOUNS, 2)
            dead = f"def {name}(self):\n    return sorted({key} for {key} in vars(self) if {key})"
            node.body += ast.parse(dead).body
        elif isinstance(node, ast.FunctionDef) and chance.random() < 0.2:
            node.body[-1:-1] = ast.parse(f"{chance.choice(NOUNS)} = {chance.randrange(9)}").body
    lines = []
    for line in ast.unparse(tree).split("\n"):
        if line.strip() and chance.random() < 0.2 and not re.match(r"\s*(elif|else|except)", line):
            lines.append(f"{line[: len(line) - len(line.lstrip())]}# {' '.join(NOUNS[:5])}")
        lines.append(line)
    return "\n".join(lines) + "\n"


def everything(source: str, chance: random.Random) -> str:
    """Do all of it."""
    for change in (padded, reordered, recounted, renamed, reformatted):
        source = change(source, chance)
    return source


VARIANTS: dict[str, Callable[[str, random.Random], str]] = {
    "renamed": renamed,
    "reformatted": reformatted,
    "constants changed": recounted,
    "methods reordered": reordered,
    "comments and dead code": padded,
    "all at once": everything,
}


def _own(tree: ast.AST) -> set[str]:
    own: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
    return own


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:] or [ast.Pass()]
    return tree
