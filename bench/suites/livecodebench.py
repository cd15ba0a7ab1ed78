"""LiveCodeBench, code generation, release v6: 1,055 problems with public and hidden tests.

The files are gigabytes of tests, so that a problem's are read again from its place when it is marked.
A hidden test is stored as compressed pickle of one text; its bytes are read as a list of instructions
and taken only if they are that and nothing more, since unpickling may run a program.
"""

import asyncio
import base64
import binascii
import json
import pickletools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from bench.suites import data
from bench.suites.answers import code as code_in
from bench.suites.jail import Jails, Program, Unavailable
from bench.suites.suite import NO_ANSWER, Group, Mark, Question, Talk
from sandbox import EnvironmentFault
from solver.chat import Spoken
from spadekit.errors import BadInput

PATTERNS = ("test.jsonl", "test[2-6].jsonl")
"""Release v6 is the first file and its five additions."""
TEST_S = 6.0
"""Seconds for one test, as the benchmark has it."""
PROGRAM = Program("lcb.py", seconds=TEST_S, memory_mb=1024)
LARGEST = 2**30
"""Bytes that one problem's tests may unpack to."""
PROMPT = (
    "Write a correct Python program that solves this problem and passes all of its tests.\n\n"
    "{problem}\n\n{form} Put the whole program into one ```python block."
)
STDIN_FORM = "Read the input from standard input and print the answer to standard output."
STARTER_FORM = "Begin with this code:\n```python\n{starter}\n```\n"
_TEXT_OPS = frozenset(
    ("PROTO", "FRAME", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "MEMOIZE", "STOP")
) | {"BINPUT", "LONG_BINPUT", "UNICODE", "PUT"}


@dataclass(frozen=True)
class Case:
    """One test: standard input and output, or arguments (a JSON value a line) and result."""

    given: str
    wanted: str


@dataclass(frozen=True)
class Problem:
    """A problem without its tests, which lie ``offset`` bytes into ``path``."""

    prompt: str
    function: str | None
    path: Path
    offset: int


@dataclass(frozen=True)
class LiveCodeBench:
    """The problems. A program passes when it passes every test."""

    revision: str
    questions: tuple[Question, ...]
    jails: Jails
    name: str = "livecodebench_v6"
    group: Group = "reasoning"

    async def ask(self, question: Question, talk: Talk) -> Mark:
        """Ask for a program and run it on every test, each in a process of its own."""
        problem: Problem = question.data
        code = code_in(await talk.say([Spoken("user", problem.prompt)]))
        if code is None:
            return NO_ANSWER
        tests = await asyncio.to_thread(lambda: cases_of(_row(problem)))
        for number, test in enumerate(tests, 1):
            request = {"code": code, "function": problem.function, "input": test.given}
            try:
                answer = await self.jails.ask(PROGRAM, request)
            except EnvironmentFault as fault:
                return Mark(0.0, f"test {number}: {fault.reason}")
            if not passes(answer, test, problem.function is not None):
                return Mark(0.0, f"test {number}: {answer.get('error', 'wrong')}"[:80])
        return Mark(1.0)

    async def gold(self, question: Question) -> Sequence[str] | None:
        """None: the data has tests and no programs."""
        return None

    def silence_wins(self, question: Question) -> bool:
        """Never."""
        return False


def load(where: str, kept: Path, jails: Jails) -> LiveCodeBench:
    """Load the problems, with the columns of the published files."""
    if not where:
        raise Unavailable(
            "its tests are four gigabytes: set suites.livecodebench to your own download, or to "
            "hf://livecodebench/code_generation_lite to have them fetched"
        )
    files = data.find(where, PATTERNS, kept)
    questions: dict[str, Question] = {}
    for path in files.paths:
        with path.open("rb") as handle:
            offset = 0
            while line := handle.readline():
                if line.strip():
                    question = _question(line, path, offset)
                    questions[question.id] = question
                offset += len(line)
    if not questions:
        raise BadInput(f"{where}: no problem in it")
    return LiveCodeBench(files.revision, tuple(questions.values()), jails)


def cases_of(row: data.Row) -> list[Case]:
    """Return a problem's public and hidden tests. Raises ``BadInput``."""
    try:
        public = json.loads(row["public_test_cases"])
        try:
            hidden = json.loads(row["private_test_cases"])
        except ValueError:
            packed = base64.b64decode(row["private_test_cases"], validate=True)
            hidden = json.loads(text_of_pickle(_unpacked(packed)))
        tests = [Case(str(one["input"]), str(one["output"])) for one in [*public, *hidden]]
        if any(one["testtype"] == "functional" for one in [*public, *hidden]):
            for test in tests:
                json.loads(test.wanted)
        return tests
    except (ValueError, KeyError, TypeError, binascii.Error, zlib.error, RecursionError) as error:
        raise BadInput(
            f"problem {row.get('question_id')}: its tests cannot be read ({error})"[:200]
        ) from None


def text_of_pickle(packed: bytes) -> str:
    """Return the text in a pickle of one text, without unpickling. Raises ``ValueError``."""
    texts = []
    for operation, argument, _ in pickletools.genops(packed):
        if operation.name not in _TEXT_OPS:
            raise ValueError(f"the pickle holds more than a text: {operation.name}")
        if isinstance(argument, str) and operation.name != "PUT":
            texts.append(argument)
    if len(texts) != 1:
        raise ValueError("the pickle is not one text")
    return texts[0]


def passes(answer: Any, test: Case, functional: bool) -> bool:
    """Whether what a program said is what the test wants, by the benchmark's rules."""
    if not isinstance(answer, dict):
        return False
    if functional:
        # A tuple has become a list on the way out, as the benchmark wants it.
        return "value" in answer and bool(answer["value"] == json.loads(test.wanted))
    output = answer.get("output")
    return isinstance(output, str) and same_output(output, test.wanted)


def same_output(output: str, wanted: str) -> bool:
    """Compare line by line: equal text, or the same numbers, exactly."""
    said = [line.strip() for line in output.strip().split("\n")]
    right = [line.strip() for line in wanted.strip().split("\n")]
    return len(said) == len(right) and all(
        one == other or _same_numbers(one, other) for one, other in zip(said, right, strict=True)
    )


def _same_numbers(one: str, other: str) -> bool:
    try:
        return [Decimal(word) for word in one.split()] == [Decimal(word) for word in other.split()]
    except InvalidOperation:
        return False


def _question(line: bytes, path: Path, offset: int) -> Question:
    where = f"{path.name}, byte {offset}"
    row = _parsed(line, where)
    content = data.text(row, where, "question_content")
    starter = row.get("starter_code") or ""
    form = STARTER_FORM.format(starter=starter) if starter else STDIN_FORM
    try:
        function = json.loads(row.get("metadata") or "{}").get("func_name")
    except (ValueError, AttributeError):
        raise BadInput(f"{where}: metadata is no JSON object") from None
    prompt = PROMPT.format(problem=content, form=form)
    identity = data.text(row, where, "question_id")
    difficulty = str(row.get("difficulty") or "unknown")
    return Question(identity, difficulty, Problem(prompt, function, path, offset))


def _row(problem: Problem) -> data.Row:
    with problem.path.open("rb") as handle:
        handle.seek(problem.offset)
        return _parsed(handle.readline(), problem.path.name)


def _parsed(line: bytes, where: str) -> data.Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where}: not JSON ({error})"[:200]) from None
    if not isinstance(row, dict):
        raise BadInput(f"{where}: no JSON object")
    return row


def _unpacked(packed: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    found = unpacker.decompress(packed, LARGEST)
    if unpacker.unconsumed_tail:
        raise ValueError(f"tests of more than {LARGEST >> 20} MB")
    return found
