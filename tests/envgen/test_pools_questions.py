"""Tasks of other packages as programs: how their scorers are judged, and what becomes of a task."""

import asyncio
import importlib.util
import json
from collections.abc import Callable

import pytest

from envgen.certificate import certify
from envgen.pools.candidate import Candidate, Unusable
from envgen.pools.compare import KINDS, normal
from envgen.pools.packages import read_package, split
from envgen.pools.questions import (
    MOST_ROUNDS,
    Question,
    Refusal,
    Trial,
    answers_to_try,
    judge,
    program,
    rounds,
    try_all,
    usable,
)
from sandbox import Sandbox
from spadekit.errors import BadInput

SUMS = [Question(f"What is {n} + {2 * n + 7}?", str(3 * n + 7)) for n in range(40)]
Rule = Callable[[str, str], float]


def judged(rule: Rule, questions: list[Question] = SUMS, deeper: bool = False) -> str:
    def attempt(place: int, answers: list[str]) -> Trial:
        question = questions[place]
        marks = tuple((answer, rule(answer, question.answer)) for answer in answers)
        return Trial(question, marks, deeper)

    kind, kept = judge(try_all(questions, attempt, 60.0))
    assert len(kept) == len(questions)
    return kind


def whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (lambda given, right: float(given == right), "text"),
        (lambda given, right: 1.0 if given == right else 0.2 * (right in given), "text"),
        (lambda given, right: float(whole(given) == int(right)), "integer"),
    ],
)
def test_a_faithful_way_to_compare_is_found(rule: Rule, kind: str) -> None:
    assert judged(rule) == kind


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (lambda given, right: float(given in (right, "zz")), "full marks to 'zz'"),
        (lambda given, right: float(right in given), "takes answers"),
        (lambda given, right: 0.5, "takes answers"),
        (lambda given, right: float(abs((whole(given) or 0) - int(right)) < 2), "takes answers"),
    ],
)
def test_a_scorer_that_comparing_cannot_follow_is_refused(rule: Rule, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        judged(rule)


def test_a_scorer_that_asks_for_the_instance_is_refused_at_once() -> None:
    asked = []

    def attempt(place: int, answers: list[str]) -> Trial:
        asked.append(place)
        return Trial(SUMS[place], tuple((answer, 0.0) for answer in answers), True)

    with pytest.raises(Refusal, match="by the instance"):
        judge(try_all(SUMS, attempt, 60.0))
    assert asked == [0]


def test_a_list_whose_order_does_not_matter_is_tried_in_another_order() -> None:
    question = Question("q", "2 \u00d7 3 \u00d7 5")
    assert "5 \u00d7 3 \u00d7 2" in answers_to_try(question, ())
    assert {"1/2", "3/6"} <= set(answers_to_try(Question("q", "2/4"), ()))
    assert all(answer == answer.strip() for answer in answers_to_try(question, [" x "]))


def test_guessing_is_made_to_fail_or_the_task_is_refused() -> None:
    assert rounds([str(n) for n in range(60)]) == (1, 1)
    assert rounds(["yes", "no"] * 20) == (5, 0)
    with pytest.raises(Refusal, match="guessing"):
        rounds(["yes"] * 9 + ["no"])
    for share in (0.03, 0.1, 0.3, 0.6):
        count, forgiven = rounds(["a"] * round(1000 * share) + [str(n) for n in range(1000)])
        most = round(1000 * share) / (1000 + round(1000 * share))
        assert most**count <= 0.05
        assert count <= MOST_ROUNDS
        assert forgiven == 0


@pytest.mark.parametrize(
    ("kind", "one", "two", "same"),
    [
        ("text", " a b ", "a b", True),
        ("text", "A", "a", False),
        ("spaced", "a\n b", "a b", True),
        ("caseless", "A  B", "a b", True),
        ("integer", "+007", "7", True),
        ("integer", "-0", "0", True),
        ("integer", "7.0", "7", False),
        ("integer", "\u0667", "7", False),
        ("number", "1,200.50", "1200.5", True),
        ("number", "-.5", "-0.5", True),
        ("number", "1e3", "1000", False),
        ("number", "9" * 5000, "9" * 5000, True),
        ("number", "", "0", False),
    ],
)
def test_answers_are_the_same_up_to_how_they_are_written(
    kind: str, one: str, two: str, same: bool
) -> None:
    assert (normal(one, kind) == normal(two, kind)) == same


@pytest.mark.parametrize("kind", KINDS)
def test_writing_an_answer_normally_twice_changes_nothing(kind: str) -> None:
    for text in ("", " A b ", "+1", "-0.0", "1,000", "00", ".", "-", "+-3", "\u00b2"):
        assert normal(normal(text, kind), kind) == normal(text, kind)


def test_an_answer_that_no_box_can_hold_is_left_out() -> None:
    assert usable(Question("q", "{1, 2}"))
    assert not usable(Question("q", "}{"))
    assert not usable(Question("q", "{"))
    assert not usable(Question("q", " "))


def test_a_program_of_questions_passes_the_certificate_and_tells_no_answer() -> None:
    text = 'What is """quoted""" \\n {n} plus {m}?\n'
    questions = [Question(f"{text}{n}, {n * n}", str(n * n + n + 100)) for n in range(60)]
    source = program("some-package", "sums", "Answer sums.", questions, "integer")

    async def main() -> None:
        async with Sandbox() as sandbox:
            certificate = await certify(source, None, sandbox)
            assert certificate.accepted, certificate.failed
            assert certificate.class_name == "SomePackageSumsEnv"
            assert certificate.title == "Answer sums."
            verdicts = {check.name: check.verdict for check in certificate.checks}
            assert (verdicts["sealed"], verdicts["solvable"]) == ("pass", "pass")
            async with await sandbox.open(source) as jail, await jail.episode(3) as episode:
                [right] = await episode.solution()
                step = await episode.step("wrong")
                assert not step.terminated
                assert right[7:-1] not in step.observation[0].content
                step = await episode.step(f"+0{right[7:-1]}")
                assert (step.reward, step.terminated) == (1.0, True)

    asyncio.run(main())
    with pytest.raises(Refusal, match="only 3"):
        program("p", "t", "T.", questions[:3], "text")
    many = [Question("x" * 5000 + str(n), str(n)) for n in range(40)]
    with pytest.raises(Refusal, match="only 8"):
        program("p", "t", "T.", many, "text")


def test_names_of_packages_and_their_tasks() -> None:
    assert split("reasoning-gym") == ("reasoning-gym", ())
    assert split("rlve-gym:A, B") == ("rlve-gym", ("A", "B"))
    assert split("some/reasoning-gym") is None


def missing(module: str) -> bool:
    return importlib.util.find_spec(module) is None


@pytest.mark.skipif(missing("reasoning_gym"), reason="pip install -e '.[pools]' installs it")
def test_reasoning_gym_tasks_become_programs_or_say_why_not() -> None:
    wanted = ["lcm", "game_of_life_halting", "prime_factorization", "countdown"]
    found = {one.place: one for one in read_package("reasoning-gym", wanted, 65_536)}
    made = found.pop("reasoning-gym:lcm")
    assert isinstance(made, Candidate)
    assert made.skills == ("mathematical_reasoning",)
    assert [type(one) for one in found.values()] == [Unusable] * 3
    why = {place.partition(":")[2]: one.detail for place, one in found.items()}
    assert "full marks" in why["game_of_life_halting"]
    assert "comparison" in why["prime_factorization"]
    assert "instance" in why["countdown"]
    # The same questions each time, whatever this process hashes by: a second import is nothing new.
    with pytest.raises(BadInput, match="is it lcm"):
        list(read_package("reasoning-gym", ["lcn"], 65_536))
    assert list(read_package("reasoning-gym", ["lcm"], 65_536)) == [made]
    _agrees(made)


def _agrees(made: Candidate) -> None:
    """The package itself gives full marks to just what the program takes."""
    import ast

    import reasoning_gym

    data = reasoning_gym.create_dataset("lcm", size=1, seed=1)
    rows = next(
        node.value
        for node in ast.parse(made.source).body
        if isinstance(node, ast.Assign) and node.targets[0].id == "QUESTIONS"  # type: ignore[attr-defined]
    )
    for question, answer in ast.literal_eval(rows)[:20]:
        entry = {"question": question, "answer": answer, "metadata": {}}
        for given in (answer, f"0{answer}", f"{answer}.0", "7", "", json.dumps(answer)):
            full = data.score_answer(given, entry) >= 1.0
            assert full == (normal(given, "text") == answer)


@pytest.mark.skipif(missing("Gym"), reason="pip install -e '.[pools]' installs rlve-gym")
def test_rlve_gym_tasks_become_programs_or_say_why_not() -> None:
    wanted = ["Multiplication", "EightDigitPuzzle"]
    one, two = read_package("rlve-gym", wanted, 65_536)
    assert isinstance(one, Candidate)
    assert 'KIND = "integer"' in one.source
    assert isinstance(two, Unusable)
