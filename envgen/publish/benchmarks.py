"""The lists of questions that environments are compared with: packages of benchmarks, and files.

Packages are read as data where they lie, without importing them; only reasoning-gym, whose questions
are nowhere written down, is asked in a process of its own.
"""

import ast
import json
import re
import string
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from envgen.publish.overlap import Asked, Questions, texts_in
from spadekit.errors import BadInput, OurFault

KEYS = ("question", "prompt", "problem", "text")
LONGEST_LINE = 2**22
TIME_S = 300.0
TEMPLATE = re.compile(r'''\bprompt_template\s*=[\s\\]*(r?(?:"""[\s\S]*?"""|"[^"\n]*"|'[^'\n]*'))''')
"""How a task of rlve-gym writes down its question, numbers standing in braces."""


@dataclass(frozen=True)
class List:
    """What became of one list. ``note`` says of which version it is, or why nothing was compared.

    Of ``questions`` those ``sought`` are long enough to be told from other texts.
    """

    name: str
    questions: int
    sought: int
    note: str = ""


def read_lists(wanted: Sequence[str]) -> tuple[Questions, tuple[List, ...]]:
    """Read the lists that are there. Raises ``BadInput`` for a file that cannot be used."""
    questions = Questions()
    told: list[List] = []
    for name in wanted:
        package = PACKAGES.get(name)
        if package and find_spec(package.module) is None:
            told.append(List(name, 0, 0, "not compared: not installed"))
            continue
        found = list(package.read(_folders(package.module)) if package else _file(Path(name)))
        if not found:
            note = "not compared: no question in it"
        else:
            note = f"version {version(package.distribution)}" if package else ""
        told.append(List(Path(name).name, len(found), questions.add(found), note))
    return questions, tuple(told)


def text_of(row: Mapping[str, Any]) -> str:
    """Return the question in a row: text, or the messages of a chat."""
    value = next((row[key] for key in KEYS if row.get(key)), "")
    return " ".join(texts_in(value))


def _file(path: Path) -> Iterator[Asked]:
    try:
        with path.open("rb") as lines:
            number = 0
            while line := lines.readline(LONGEST_LINE):
                number += 1
                if not line.strip():
                    continue
                try:
                    text = text_of(json.loads(line))
                except (ValueError, AttributeError, RecursionError):
                    raise BadInput(f"{path}: line {number} is no JSON object") from None
                if not text:
                    keys = ", ".join(f"`{key}`" for key in KEYS)
                    raise BadInput(f"{path}: line {number} has no text under {keys}")
                yield Asked(f"{path.name}:{number}", text)
    except OSError as error:
        raise BadInput(
            f"publish.benchmarks: {path} cannot be read ({error.strerror}); name a .jsonl file or one of "
            f"{', '.join(PACKAGES)}"
        ) from None


def _folders(module: str) -> list[Path]:
    """Return where a package lies, without importing it."""
    spec = find_spec(module)
    return [Path(one) for one in (spec.submodule_search_locations if spec else None) or ()]


def _bfcl(folders: Sequence[Path]) -> Iterator[Asked]:
    """Read the questions of the Berkeley function-calling leaderboard out of its data files."""
    for path in (path for folder in folders for path in sorted(folder.glob("data/BFCL_*.json"))):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                text = text_of(json.loads(line))
            except (ValueError, AttributeError):
                continue  # not a row of questions
            yield Asked(f"{path.stem}:{number}", text)


def _reasoning_gym(_: Sequence[Path]) -> Iterator[Asked]:
    """Ask a process of its own: the package reseeds the generators that all share."""
    # The pools read releases, whose rows know of this module.
    from envgen.pools.child import environment

    # With -P nothing is imported from the working folder, which may hold modules of anybody's.
    command = [sys.executable, "-P", "-m", "envgen.publish.questions"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            env=environment(PYTHONHASHSEED="0", CUDA_VISIBLE_DEVICES=""),
            stdin=subprocess.DEVNULL,
            timeout=TIME_S,
            check=True,
        )
        rows = [json.loads(line) for line in done.stdout.splitlines()]
    except (subprocess.SubprocessError, ValueError):
        raise OurFault(
            "reasoning-gym gives no questions; `python -P -m envgen.publish.questions` shows why, and "
            "--set 'publish.benchmarks=[]' does without"
        ) from None
    for row in rows:
        first, *others = row["questions"]
        yield Asked(f"reasoning-gym:{row['task']}", first, tuple(others))


def _rlve_gym(folders: Sequence[Path]) -> Iterator[Asked]:
    """Read the questions of rlve-gym out of its sources: two instances share all but the numbers."""
    for path in (p for folder in folders for p in sorted(folder.glob("environments/*/*.py"))):
        for written in TEMPLATE.findall(path.read_text(encoding="utf-8")):
            try:
                first, other = (_filled(ast.literal_eval(written), word) for word in ("one", "two"))
            except (SyntaxError, ValueError):
                continue  # not written in one piece
            yield Asked(f"rlve-gym:{path.parent.name}", first, (other,))


def _filled(template: str, word: str) -> str:
    """Return a format string with a word for each of its fields."""
    parts = string.Formatter().parse(template)
    return "".join(f"{text} {word} " if field is not None else text for text, field, _, _ in parts)


@dataclass(frozen=True)
class Package:
    """A benchmark that is a package: its names on an index and as a module, and how it is read."""

    distribution: str
    module: str
    read: Callable[[Sequence[Path]], Iterator[Asked]]


PACKAGES: Mapping[str, Package] = {
    "reasoning-gym": Package("reasoning-gym", "reasoning_gym", _reasoning_gym),
    "rlve-gym": Package("rlve-gym", "Gym", _rlve_gym),
    "bfcl": Package("bfcl-eval", "bfcl_eval", _bfcl),
}
