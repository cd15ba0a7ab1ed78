"""The texts that a program says, read out of its source without running it. Pure."""

import ast


def constants(source: str) -> list[tuple[int, str]]:
    """Return the string constants of a Python source with their lines, as they are said.

    That is without the escapes they are written with, and in one piece where they are written in
    several. A source that cannot be parsed has none.
    """
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for node in nodes:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                found.append((node.lineno, node.value))
            elif isinstance(node.value, bytes):
                found.append((node.lineno, node.value.decode("latin-1")))
    return sorted(found)
