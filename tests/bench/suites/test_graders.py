"""Graders in the jail: reference answers earn full marks, silence and plausible errors none."""

import json
from collections.abc import AsyncIterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from bench.suites import aime, bfcl, gpqa, livecodebench, reasoning_gym
from bench.suites.jail import Jails
from bench.suites.run import chosen, prove
from bench.suites.suite import Mark, Question, Suite
from bench.suites.talk import Reading
from sandbox import SandboxConfig

no_gym = pytest.mark.skipif(
    not all(find_spec(one) for one in ("reasoning_gym", "magiccube", "pycosat", "zss")),
    reason="pip install -e '.[pools]' installs it",
)
no_bfcl = pytest.mark.skipif(
    find_spec("bfcl_eval") is None, reason="pip install --no-deps bfcl-eval installs it"
)


@pytest.fixture
async def jails() -> AsyncIterator[Jails]:
    async with Jails(SandboxConfig(), 2) as opened:
        yield opened


async def mark(suite: Suite, question: Question, *replies: str) -> Mark:
    return await suite.ask(question, Reading(replies))


async def proved(suite: Suite, count: int) -> tuple[float | None, float | None]:
    proof = await prove(suite, chosen(suite.name, suite.questions, count, 0), 2, lambda: None)
    assert proof.sound
    return proof.gold, proof.silence


# Compared here


async def test_aime_and_gpqa_mark_right_wrong_and_missing_answers(tmp_path: Path) -> None:
    (tmp_path / "aime.jsonl").write_text('{"problem": "p", "answer": "025"}\n')
    row = {"Question": "q", "Correct Answer": "right"}
    row |= {f"Incorrect Answer {n}": f"wrong {n}" for n in (1, 2, 3)}
    (tmp_path / "gpqa_diamond.jsonl").write_text(json.dumps(row) + "\n")
    year = aime.load("aime_2025", str(tmp_path / "aime.jsonl"), tmp_path)
    science = gpqa.load(str(tmp_path), tmp_path, 0)
    assert await proved(year, 0) == (1.0, 0.0)
    assert await proved(science, 0) == (1.0, 0.0)
    [problem], [question] = year.questions, science.questions
    assert await mark(year, problem, r"\boxed{25}") == Mark(1.0)
    assert await mark(year, problem, r"\boxed{26}") == Mark(0.0)
    assert await mark(year, problem, "25") == Mark(0.0, "no answer")
    wrong = next(one for one in gpqa.LETTERS if one != question.data[2])
    assert await mark(science, question, f"\\boxed{{{wrong}}}") == Mark(0.0)
    assert await mark(science, question, r"\boxed{E}") == Mark(0.0, "no answer")


# LiveCodeBench: programs


def problem(identity: str, tests: Sequence[tuple[str, str]], function: str = "") -> str:
    kind = "functional" if function else "stdin"
    cases = [{"input": given, "output": wanted, "testtype": kind} for given, wanted in tests]
    return json.dumps(
        {
            "question_title": "t",
            "question_content": "Add.",
            "platform": "leetcode" if function else "atcoder",
            "question_id": identity,
            "contest_id": "c",
            "contest_date": "2025-01-01T00:00:00",
            "starter_code": "class Solution:" if function else "",
            "difficulty": "easy",
            "public_test_cases": json.dumps(cases[:1]),
            "private_test_cases": json.dumps(cases[1:]),
            "metadata": json.dumps({"func_name": function} if function else {}),
        }
    )


LONG = " ".join(map(str, range(30_000)))
"""Longer than a frame of the sandbox."""
ADD = "class Solution:\n    def add(self, xs: List[int], k):\n        return {}"
EVIL = """
import gc, sys
print(sum(map(int, input().split())))
for thing in gc.get_objects():
    if isinstance(thing, dict) and "wanted" in thing:
        sys.exit()
"""


@pytest.fixture
def lcb(tmp_path: Path, jails: Jails) -> livecodebench.LiveCodeBench:
    lines = [problem("sum", [("1 2\n", "3\n"), (LONG, str(sum(range(30_000))))])]
    (tmp_path / "test.jsonl").write_text("\n".join(lines) + "\n")
    lines = [problem("add", [("[1, 2]\n3", "[4, 5]")], "add")]
    (tmp_path / "test6.jsonl").write_text("\n\n" + "\n".join(lines) + "\n")
    (tmp_path / "test7.jsonl").write_text("of a later release")
    return livecodebench.load(str(tmp_path), tmp_path, jails)


@pytest.mark.parametrize(
    ("program", "score", "note"),
    [
        ("print(sum(map(int, input().split())))", 1.0, ""),
        ("import sys\nprint(float(sum(map(int, sys.stdin.buffer.read().split()))))", 1.0, ""),
        ("print(sum(map(int, open(0).read().split())))\nexit()", 1.0, ""),
        (
            "def main():\n    print(sum(map(int, input().split())))\nif __name__ == '__main__':\n    main()",
            1.0,
            "",
        ),
        (EVIL, 1.0, ""),
        ("print(3)", 0.0, "test 2: wrong"),
        ("print(int(input()))", 0.0, "test 1: ValueError"),
        ("print(", 0.0, "test 1: SyntaxError"),
        ("import os\nprint(3)\nos._exit(0)", 0.0, "test 1: crashed"),
        ("x = [0] * 10**10", 0.0, "test 1: memory"),
        ("print('x' * 10**7)", 0.0, "test 1: oversize"),
        (
            "import socket; socket.create_connection(('127.0.0.1', 80))",
            0.0,
            "test 1: PermissionError",
        ),
    ],
)
async def test_a_program_passes_when_it_prints_what_every_test_wants(
    lcb: livecodebench.LiveCodeBench, program: str, score: float, note: str
) -> None:
    assert [one.id for one in lcb.questions] == ["sum", "add"]
    assert await mark(lcb, lcb.questions[0], f"```python\n{program}\n```") == Mark(score, note)


@pytest.mark.parametrize(
    ("expression", "score", "note"),
    [
        ("[x + k for x in xs]", 1.0, ""),
        ("tuple(x + k for x in xs)", 1.0, ""),
        ("xs", 0.0, "test 1: wrong"),
        ("'[4, 5]'", 0.0, "test 1: wrong"),
        ("float('nan')", 0.0, "test 1: contract"),
        ("object()", 0.0, "test 1: raised"),
    ],
)
async def test_a_function_passes_when_it_returns_what_every_test_wants(
    lcb: livecodebench.LiveCodeBench, expression: str, score: float, note: str
) -> None:
    reply = f"```python\n{ADD.format(expression)}\n```"
    assert await mark(lcb, lcb.questions[1], reply) == Mark(score, note)
    assert await mark(lcb, lcb.questions[1], "I cannot.") == Mark(0.0, "no answer")


# reasoning-gym


@no_gym
@pytest.mark.parametrize("name", ["rg_math", "rg_logic"])
async def test_reasoning_gym_gives_full_marks_to_its_own_answers(name: str, jails: Jails) -> None:
    suite = reasoning_gym.load(name, 0, 1, jails)
    gold, silence = await proved(suite, 3)
    assert (gold, silence) == (1.0, 0.0)


@no_gym
async def test_answers_that_are_evaluated_touch_nothing_and_faulty_scorers_give_nothing(
    jails: Jails,
) -> None:
    def question(suite: Suite, task: str) -> Question:
        return next(one for one in suite.questions if one.category == task)

    algorithmic = reasoning_gym.load("rg_algorithmic", 0, 1, jails)
    evil = "<answer>[__import__('os')._exit(0)]</answer>"
    for task in ("string_insertion", "spiral_matrix", "binary_matrix"):
        assert (await mark(algorithmic, question(algorithmic, task), evil)).score == 0.0
    halting = question(algorithmic, "game_of_life_halting")
    assert (await mark(algorithmic, halting, "<answer>who knows</answer>")).score == 0.0
    math = reasoning_gym.load("rg_math", 0, 1, jails)
    primes = question(math, "prime_factorization")
    assert (await mark(math, primes, "<answer>two and three</answer>")).score == 0.0


# BFCL


@no_bfcl
@pytest.mark.parametrize(
    ("name", "count"),
    [("bfcl_non_live", 12), ("bfcl_live", 12), ("bfcl_relevance", 6), ("bfcl_multi_turn", 4)],
)
async def test_bfcl_gives_full_marks_to_its_own_answers(
    name: str, count: int, jails: Jails
) -> None:
    suite = bfcl.load(name, "", jails)
    gold, silence = await proved(suite, count)
    assert (gold, silence) == (1.0, 0.0)


@no_bfcl
async def test_questions_that_the_package_itself_cannot_mark_are_those_that_are_named(
    jails: Jails,
) -> None:
    suite = bfcl.load("bfcl_live", "", jails)
    missing = {one.id for one in suite.questions if await suite.gold(one) is None}
    assert missing == bfcl.UNPROVED


@no_bfcl
async def test_calls_that_are_nearly_right_earn_nothing(jails: Jails) -> None:
    suite = bfcl.load("bfcl_non_live", "", jails)
    question = next(one for one in suite.questions if one.id == "parallel_0")
    [reply] = await suite.gold(question) or ()
    assert await mark(suite, question, reply) == Mark(1.0)
    one_call, other_call = reply.split("</tool_call>")[:2]
    swapped = f"{other_call}</tool_call>{one_call}</tool_call>"
    assert await mark(suite, question, swapped) == Mark(1.0), "order is free"
    assert await mark(suite, question, one_call + "</tool_call>") == Mark(0.0)
    assert await mark(suite, question, reply.replace("20", "21")) == Mark(0.0)
    assert await mark(suite, question, reply.replace("20", '"20"')) == Mark(0.0)
    assert await mark(suite, question, reply.replace('"duration"', '"minutes"')) == Mark(0.0)
    assert await mark(suite, question, one_call) == Mark(0.0, "malformed call: unclosed")
    thought = reply.replace("<tool_call>", "").replace("</tool_call>", "")
    assert await mark(suite, question, thought) == Mark(0.0, "no answer")


@no_bfcl
async def test_a_turn_that_never_ends_fails_and_a_name_is_no_program(jails: Jails) -> None:
    suite = bfcl.load("bfcl_multi_turn", "", jails)
    question = next(one for one in suite.questions if one.id == "multi_turn_base_0")
    looking = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
    assert (await mark(suite, question, *[looking] * 40)).note == "more than 20 steps in a turn"
    for name in ("__import__('os')._exit(0) or ls", "ls(); exit", "if"):
        evil = f"<tool_call>{json.dumps({'name': name, 'arguments': {}})}</tool_call>"
        assert await mark(suite, question, evil) == Mark(0.0, "no answer")
    gold = list(await suite.gold(question) or ())
    assert await mark(suite, question, *gold) == Mark(1.0)
    assert (await mark(suite, question, *gold[:-2])).score == 0.0, "the last turn was not done"
