"""Which environments hold a question of a benchmark: shared runs of words. Pure but for reading lists.

A question is held when a text has most of its runs of ``RUN`` words, whatever stands between them:
the usual measure of contamination, counted on the side of the question, so that a long program does
not hide a short question.
"""

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spadekit.errors import BadInput, OurFault

RUN = 8
SHORTEST = 5
"""Words that a question has at least; shorter ones stand in many texts by chance."""
LEAST_SHARED = 3
"""Runs of words that the variants of a question share at least; fewer are a turn of speech."""
KEYS = ("question", "prompt", "problem", "text")
PACKAGES = {"reasoning-gym": "reasoning_gym", "bfcl": "bfcl_eval"}
_WORD = re.compile(r"[^\W_]+")
LONGEST_LINE = 2**22
TIME_S = 300.0


@dataclass(frozen=True)
class Asked:
    """A question of a benchmark. ``name`` says which list it is from and where it stands there.

    ``variants`` are further instances of a question that is made anew each time: what all of them
    share is looked for, the form in which it is asked.
    """

    name: str
    text: str
    variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Held:
    """A question that a text holds, and the share of its runs of words that are there."""

    question: str
    share: float


@dataclass(frozen=True)
class List:
    """What became of one list: how many questions it has; 0 and why when it was not there."""

    name: str
    questions: int
    note: str = ""


class Questions:
    """Questions to look for, by their runs of words."""

    def __init__(self, questions: Iterable[Asked] = ()) -> None:
        self._names: list[str] = []
        self._sizes: list[int] = []
        self._where: dict[int, list[int]] = {}
        for question in questions:
            runs = set(_runs(_words(question.text)))
            for other in question.variants:
                runs &= set(_runs(_words(other)))
            if len(runs) < (LEAST_SHARED if question.variants else 1):
                continue
            number = len(self._names)
            self._names.append(question.name)
            self._sizes.append(len(runs))
            for run in runs:
                self._where.setdefault(run, []).append(number)

    def __len__(self) -> int:
        return len(self._names)

    def held(self, text: str, least: float) -> Held | None:
        """Return the question that a text holds most of, if it has the share ``least`` of one."""
        words = _words(text)
        counts: Counter[int] = Counter()
        # Questions of fewer words than a run are one run of their own length.
        sizes = range(SHORTEST, RUN + 1)
        for run in {run for size in sizes for run in _runs_of(words, size)}:
            counts.update(self._where.get(run, ()))
        shares = [(count / self._sizes[number], -number) for number, count in counts.items()]
        share, number = max(shares, default=(0.0, 0))
        return Held(self._names[-number], share) if shares and share >= least else None


def read_lists(wanted: Sequence[str]) -> tuple[Questions, tuple[List, ...]]:
    """Read the lists that are there. Raises ``BadInput`` for a file that cannot be used."""
    asked: list[Asked] = []
    told: list[List] = []
    for name in wanted:
        if module := PACKAGES.get(name):
            if find_spec(module) is None:
                told.append(List(name, 0, "not installed"))
                continue
            found = list(_reasoning_gym() if name == "reasoning-gym" else _bfcl(_folders(module)))
        else:
            found = list(_file(Path(name)))
        asked += found
        told.append(List(Path(name).name, len(found)))
    return Questions(asked), tuple(told)


def told_by(source: str, hint: str, transcript: str) -> str:
    """Return all that an environment may say: its program, the texts in it, its hint, and a play.

    Texts are taken as they are said, without the escapes that they are written with.
    """
    try:
        nodes = ast.walk(ast.parse(source))
        texts = [
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        texts = []
    return "\n".join([source, *texts, hint, *_texts(json.loads(transcript or "[]"))])


def text_of(row: Mapping[str, Any]) -> str:
    """Return the question in a row: text, or the messages of a chat."""
    value = next((row[key] for key in KEYS if row.get(key)), "")
    return " ".join(_texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        yield from _texts(value.get("content"))


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
            f"publish.benchmarks: {path} cannot be read ({error.strerror}); name a .jsonl file, "
            f"{' or '.join(PACKAGES)}"
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


def _reasoning_gym() -> Iterator[Asked]:
    """Ask a process of its own: the package reseeds the generators that all share."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "envgen.publish.questions"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=TIME_S,
            check=True,
        )
        rows = [json.loads(line) for line in done.stdout.splitlines()]
    except (subprocess.SubprocessError, ValueError):
        raise OurFault(
            "reasoning-gym gives no questions; `python -m envgen.publish.questions` shows why, and "
            "--set 'publish.benchmarks=[]' does without"
        ) from None
    for row in rows:
        first, *others = row["questions"]
        yield Asked(f"reasoning-gym:{row['task']}", first, tuple(others))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _runs(words: Sequence[str]) -> Iterator[int]:
    if len(words) >= SHORTEST:
        yield from _runs_of(words, min(RUN, len(words)))


def _runs_of(words: Sequence[str], size: int) -> Iterator[int]:
    for start in range(len(words) - size + 1):
        yield hash((size, *words[start : start + size]))
