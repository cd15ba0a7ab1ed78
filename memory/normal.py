"""The normal form of a program: what stays without names, constants, layout and order."""

import ast
import builtins
import hashlib
import re
import warnings
from dataclasses import dataclass

SHINGLE = 5

# Names that the contract fixes. All other names of the program's own are folded to one symbol;
# numbered symbols would make one inserted method renumber everything after it.
_CONTRACT = frozenset(
    {
        *("self", "reset", "step", "seed", "action", "solution"),
        *("ToolUseEnv", "build", "ask", "until", "never", "state", "advance"),
    }
)
_KEPT = _CONTRACT | frozenset(dir(builtins))
_TOKEN = re.compile(r"\w+|\*\*=?|//=?|<<=?|>>=?|[-+*/%&|^=!<>@:]=|->|\.\.\.|[^\s\w]")
_FOLDED = "v"


@dataclass(frozen=True)
class Normal:
    """Digest of the normalised tree, its 5-token shingles, and those of each of its functions."""

    digest: str
    shingles: frozenset[str]
    functions: tuple[frozenset[str], ...] = ()


def normalise(source: str) -> Normal:
    """Return the normal form of a program.

    Comments and docstrings go, own names become one symbol, constants their type; functions of a
    class and of the module stand in the order of their normal text. Raises ``ValueError`` for what
    is not Python or is nested too deeply to be read.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        parts = _parts(_Fold(tree).visit(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"not readable as Python: {type(error).__name__}: {error}") from None
    tokens = [_TOKEN.findall(part) for part in parts]
    whole = [token for part in tokens for token in part]
    return Normal(
        hashlib.sha256(" ".join(whole).encode("utf-8", "replace")).hexdigest()[:20],
        _shingles(whole),
        tuple(_shingles(part) for part in tokens[1:]),
    )


def _shingles(tokens: list[str]) -> frozenset[str]:
    last = max(1, len(tokens) - SHINGLE + 1)
    return frozenset(" ".join(tokens[at : at + SHINGLE]) for at in range(last))


def _parts(tree: ast.Module) -> list[str]:
    """Return the text of everything but functions, then the functions in order of their text."""
    functions = sorted(ast.unparse(function) for function in _take_functions(tree))
    return [ast.unparse(tree), *functions]


def _take_functions(node: ast.Module | ast.ClassDef) -> list[ast.stmt]:
    """Cut the functions of a module or class, and of the classes in it, out of its body."""
    taken = [item for item in node.body if _is_function(item)]
    node.body = [item for item in node.body if not _is_function(item)]
    for item in node.body:
        if isinstance(item, ast.ClassDef):
            taken += _take_functions(item)
    if isinstance(node, ast.ClassDef) and not node.body:
        node.body = [ast.Pass()]
    return taken


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _own_names(tree: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names that the program gives itself, and those it gives to the instance."""
    own: set[str] = set()
    instances: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.add(node.attr)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
            if isinstance(node, ast.ClassDef):
                methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
                instances.update(m.args.args[0].arg for m in methods if _takes_instance(m))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            own.add(node.name)
        elif isinstance(node, ast.alias) and node.asname:
            own.add(node.asname)
    return own - _KEPT, instances


def _takes_instance(method: ast.FunctionDef) -> bool:
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in method.decorator_list)
    return bool(method.args.args) and not static


class _Fold(ast.NodeTransformer):
    """Folds own names and types constants, in place."""

    def __init__(self, tree: ast.AST) -> None:
        self._own, self._instances = _own_names(tree)

    def _name(self, name: str) -> str:
        if name in self._instances:
            return "self"
        if name in self._own and not name.startswith("__"):
            return _FOLDED
        return name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._name(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._name(node.arg)
        node.annotation = None
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        self.generic_visit(node)
        if node.arg:
            node.arg = self._name(node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        node.attr = self._name(node.attr)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._name(node.name)
        node.returns = None
        node.body = _without_docstring(node.body)
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.name = self._name(node.name)
        node.returns = None
        node.body = _without_docstring(node.body)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._name(node.name)
        node.body = _without_docstring(node.body)
        return self.generic_visit(node)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = _without_docstring(node.body)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """An annotation is no behaviour: ``x: int = 1`` is ``x = 1``."""
        self.generic_visit(node)
        if node.value is None:
            return ast.Pass()
        # `ast.unparse` asks an assignment, and nothing else made here, for its line.
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.name:
            node.name = self._name(node.name)
        return self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> ast.AST:
        if node.asname:
            node.asname = self._name(node.asname)
        return node

    def visit_Global(self, node: ast.Global) -> ast.AST:
        node.names = [self._name(name) for name in node.names]
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = [self._name(name) for name in node.names]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """A negative number is a number."""
        self.generic_visit(node)
        typed = isinstance(node.operand, ast.Name) and node.operand.id in ("INT", "FLOAT")
        return node.operand if typed and isinstance(node.op, ast.USub) else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) or node.value is None or node.value is ...:
            return node
        kind = {int: "INT", float: "FLOAT", str: "STR"}.get(type(node.value), "CONST")
        return ast.Name(id=kind, ctx=ast.Load())

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Name(id="FSTR", ctx=ast.Load())


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    text = first.value if isinstance(first, ast.Expr) else None
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return body[1:] or [ast.Pass()]
    return body
