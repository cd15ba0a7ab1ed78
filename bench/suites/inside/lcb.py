"""Inside the jail: runs a program that a model wrote on one input, and tells what it printed or returned.

Right or wrong is decided outside: what the program should have said is not in this process.
"""

import builtins
import io
import json
import sys
from typing import Any

# What solutions may take for granted on the sites that the problems are from.
PRELUDE = "\n".join(
    [
        *(
            f"from {name} import *"
            for name in (
                *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math"),
                *("random", "statistics", "itertools", "functools", "operator", "io", "sys"),
                *("json", "builtins", "typing"),
            )
        ),
        "import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics",
        "import itertools, functools, operator, io, sys, json",
        "sys.setrecursionlimit(50000)",
    ]
)


def answer(request: dict[str, Any]) -> Any:
    given = request["input"]
    try:
        if request["function"] is None:
            return {"output": printed(request["code"], given)}
        return {"value": returned(request["code"], request["function"], given)}
    except MemoryError:
        return {"error": "memory"}
    except BaseException as error:
        return {"error": type(error).__name__[:60]}


def printed(code: str, given: str) -> str:
    data = given.encode()
    real_open, real_stdin, real_stdout = builtins.open, sys.stdin, sys.stdout
    room = io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(data), "utf-8")
    sys.stdout = io.TextIOWrapper(room, "utf-8", "replace", write_through=True)

    def open_input(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if file in (0, "/dev/stdin"):
            return io.BytesIO(data) if "b" in mode else io.StringIO(given)
        return real_open(file, mode, *rest, **more)

    builtins.open = open_input
    try:
        run(code)
    except SystemExit:
        pass
    finally:
        builtins.open, sys.stdin = real_open, real_stdin
        said, sys.stdout = sys.stdout, real_stdout
    said.flush()
    return room.getvalue().decode("utf-8", "replace")


def returned(code: str, name: str, given: str) -> Any:
    arguments = [json.loads(line) for line in given.split("\n")]
    names = run(code)
    holder = names["Solution"]() if "Solution" in names else None
    function = names[name] if holder is None else getattr(holder, name)
    return function(*arguments)


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(PRELUDE, "prelude", "exec"), names)  # noqa: S102 - what this jail is for
    names["__name__"] = "__main__"
    exec(compile(code, "solution", "exec"), names)  # noqa: S102
    return names
