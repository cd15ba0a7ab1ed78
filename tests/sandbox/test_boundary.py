"""Generated code runs in one place only: the programs inside the jail."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("spadekit", "sandbox", "memory", "solver", "envgen", "bench")
INSIDE = {ROOT / "sandbox" / f"{name}.py" for name in ("guest", "envkit", "reference")}
INSIDE |= set((ROOT / "bench" / "suites" / "inside").glob("[a-z]*.py"))
CALLS = {"exec", "eval", "__import__", "execfile"}
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "code", "codeop"}
SHELLS = {"system", "popen"}


def files() -> list[Path]:
    found = [ROOT / "spadework.py"]
    for package in PACKAGES:
        found += (ROOT / package).rglob("*.py")
    return sorted(path for path in found if path not in INSIDE)


def runs_code(tree: ast.AST) -> list[str]:
    """Return what in ``tree`` could run text or bytes as code, with line numbers."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in CALLS:
            found.append(f"{node.id} in line {node.lineno}")
        elif isinstance(node, ast.Name) and node.id == "compile":
            found.append(f"compile in line {node.lineno}")
        elif isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
            found += [f"import {name} in line {node.lineno}" for name in names & MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
            found.append(f"import {node.module} in line {node.lineno}")
        elif isinstance(node, ast.Attribute) and node.attr in SHELLS:
            if isinstance(node.value, ast.Name) and node.value.id == "os":
                found.append(f"os.{node.attr} in line {node.lineno}")
        elif isinstance(node, ast.keyword) and node.arg == "shell":
            found.append(f"shell= in line {node.value.lineno}")
        elif isinstance(node, ast.keyword) and node.arg == "trust_remote_code":
            found.append(f"trust_remote_code= in line {node.value.lineno}")
    return found


def test_no_host_code_runs_generated_code() -> None:
    guilty = {
        str(path.relative_to(ROOT)): found
        for path in files()
        if (found := runs_code(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert not guilty


def test_the_host_never_imports_the_programs_of_the_jail() -> None:
    for path in files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            programs = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in INSIDE]
            assert not any(name.startswith(tuple(programs)) for name in names), path


@pytest.mark.parametrize(
    "text",
    [
        "exec('x')",
        "run = eval",
        "import pickle",
        "from marshal import loads",
        "os.system('x')",
        "compile(s, 'f', 'exec')",
        "subprocess.run(c, shell=True)",
        "__import__(name)",
    ],
)
def test_the_scan_sees_what_it_looks_for(text: str) -> None:
    assert runs_code(ast.parse(text))


@pytest.mark.parametrize("text", ["ast.parse(source)", "re.compile('x')", "cursor.execute('x')"])
def test_the_scan_leaves_the_harmless_alone(text: str) -> None:
    assert not runs_code(ast.parse(text))
