"""Questions with one right answer each, as an ordinary environment program.

A package's task that makes questions and scores answers cannot run in a jail, where there is only the
standard library. What can: a program that holds questions and answers as data. It is faithful where
the package gives full marks to nothing but the reference answer, up to the way it is written.
Whether that is so is tried out (``judge``): the package's scorer sees the reference answer, ways of
writing it, other answers and nonsense, and an instance from which everything but the answer has
been taken. A scorer that then asks for more than the answer judges by the instance, as where many
answers are right; such a task is refused, and so is one whose scorer praises nonsense.
"""

import inspect
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from envgen.pools.compare import KINDS, normal

LUCK = 0.05
"""What guessing the most common answers may win at most."""
MOST_ROUNDS = 6
RARE = 0.02
"""An answer at most this common may be tried twice."""
FEWEST, MOST = 24, 96
"""Questions of one program."""
ROOM = 44_000
"""Bytes of a program's questions, as written in its source."""
SEPARATORS = (", ", ",", "\n", " \u00d7 ", " * ", " x ", " \u2192 ", " ", ";", "|")
NONSENSE = ("", "zz", "???", "[]", "{}", "0 0")
FULL = 1.0 - 1e-9


@dataclass(frozen=True)
class Question:
    """A question and its reference answer."""

    text: str
    answer: str


@dataclass(frozen=True)
class Trial:
    """What a package's scorer made of answers to one question.

    ``marks`` are (answer, marks); ``deeper``: it asked for more than the reference answer.
    """

    question: Question
    marks: tuple[tuple[str, float], ...]
    deeper: bool


class Refusal(Exception):
    """A task cannot become a program; the text says why."""


def answers_to_try(question: Question, others: Iterable[str]) -> list[str]:
    """Return answers that a scorer shall be tried with: right ones, wrong ones and nonsense.

    None has white space around it: packages take that off before they score.
    """
    answer = question.answer
    ways = [
        answer,
        answer.upper(),
        answer.lower(),
        answer.title(),
        answer.replace(" ", ""),
        re.sub(r"\s+", "  ", answer),
        answer.replace(", ", ","),
        re.sub(r",(?=\S)", ", ", answer),
        f"[{', '.join(answer.split())}]",
        f'"{answer}"',
        f"{answer}.",
        f"the answer is {answer}",
        *_reordered(answer),
        *_numbers(answer),
    ]
    wrong = [other for other in others if other != answer]
    return list(dict.fromkeys(one.strip() for one in (*ways, *wrong, *NONSENSE)))


def judge(trials: Sequence[Trial]) -> tuple[str, list[Question]]:
    """Return how answers are to be compared and the questions on which that is right.

    Raises ``Refusal`` when no way of comparing does what the package's scorer does.
    """
    if not trials:
        raise Refusal("it makes no question with an answer")
    if len(trials) < FEWEST and not trials[-1].deeper:
        raise Refusal(f"only {len(trials)} different questions; at least {FEWEST} are needed")
    for trial in trials:
        for answer, marks in trial.marks:
            if answer in NONSENSE and marks >= FULL and answer != trial.question.answer:
                raise Refusal(f"its scorer gives full marks to {answer!r}")
    if any(trial.deeper for trial in trials):
        raise Refusal("its scorer judges by the instance: more than one answer may be right")
    agreed: list[Question] = []
    best = KINDS[0]
    for kind in KINDS:
        fits = [trial.question for trial in trials if _agrees(trial, kind)]
        if len(fits) > len(agreed):
            best, agreed = kind, fits
    if len(agreed) < max(FEWEST, 0.9 * len(trials)):
        raise Refusal(
            "its scorer takes answers that a comparison would not, or the reverse "
            f"(on {len(trials) - len(agreed)} of {len(trials)} questions)"
        )
    return best, agreed


def try_all(
    questions: Sequence[Question], attempt: Callable[[int, list[str]], Trial], seconds: float
) -> list[Trial]:
    """Try every question's answers with ``attempt`` for at most so many seconds of CPU.

    It gets a question's place and the answers. A question that shows that the scorer judges by the
    instance is the last: there is nothing more to find out. Raises ``Refusal`` for a slow scorer.
    """
    began = time.process_time()
    trials: list[Trial] = []
    for place, question in enumerate(questions):
        others = [questions[place - step].answer for step in range(1, min(4, len(questions)))]
        trials.append(attempt(place, answers_to_try(question, others)))
        if trials[-1].deeper:
            break
        if time.process_time() - began > seconds:
            raise Refusal("its scorer is too slow to be tried out")
    return trials


def usable(question: Question) -> bool:
    """Whether an answer can be given in a box and is no part of giving it away."""
    depth = 0
    for char in question.answer:
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return False
    return depth == 0 and bool(question.answer.strip()) and bool(question.text.strip())


def rounds(answers: Sequence[str]) -> tuple[int, int]:
    """Return how many questions a play asks and how many mistakes it forgives.

    So many that always giving the most common answer wins at most ``LUCK`` of the plays. Raises
    ``Refusal`` when that takes too many.
    """
    share = Counter(answers).most_common(1)[0][1] / len(answers)
    if share <= RARE:
        return 1, 1
    wanted = 1 if share <= LUCK else math.ceil(math.log(LUCK) / math.log(min(share, 0.99)))
    if wanted > MOST_ROUNDS:
        raise Refusal(f"guessing wins: {share:.0%} of its answers are the same")
    return wanted, 0


def program(package: str, task: str, title: str, questions: Sequence[Question], kind: str) -> str:
    """Return the source of an environment that asks the questions. Raises ``Refusal``.

    As many as fit into ``ROOM``, at most ``MOST``, each text once.
    """
    taken: dict[str, Question] = {}
    room = ROOM
    for question in questions:
        size = len(repr((question.text, question.answer)).encode()) + 6
        if question.text in taken or not usable(question):
            continue
        if size > room or len(taken) == MOST:
            break
        room -= size
        taken[question.text] = question
    if len(taken) < FEWEST:
        raise Refusal(f"only {len(taken)} different questions fit; at least {FEWEST} are needed")
    asked, forgiven = rounds([normal(one.answer, kind) for one in taken.values()])
    rows = "\n".join(f"    {(one.text, one.answer)!r}," for one in taken.values())
    return TEMPLATE.format(
        package=package,
        task=task,
        title=title,
        name="".join(part.capitalize() for part in re.split(r"\W+|_", f"{package} {task}")),
        rows=rows,
        kind=kind,
        asked=asked,
        forgiven=forgiven,
        turns=asked + forgiven,
        normal=inspect.getsource(normal).rstrip(),
    )


TEMPLATE = '''"""Questions of the task {task} of {package}, with their answers."""

import random

KIND = "{kind}"
QUESTIONS = [
{rows}
]


class {name}Env:
    """{title}"""

    def __init__(self, max_turns={turns}, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.asked = random.Random(seed).sample(QUESTIONS, {asked})
        self.done = 0
        self.mistakes = 0
        return self.show(), {{}}

    def show(self):
        text, _ = self.asked[self.done]
        if len(self.asked) == 1:
            return text
        return f"Question {{self.done + 1}} of {{len(self.asked)}}; all must be right.\\n\\n{{text}}"

    def step(self, action):
        given = action.strip()
        if given.startswith("\\\\boxed{{") and given.endswith("}}"):
            given = given[len("\\\\boxed{{"):-1]
        if normal(given, KIND) == normal(self.asked[self.done][1], KIND):
            self.done += 1
            if self.done == len(self.asked):
                return "Right.", 1.0, True, False, {{}}
            return "Right.\\n\\n" + self.show(), 0.0, False, False, {{}}
        self.mistakes += 1
        if self.mistakes > {forgiven}:
            return "Not right.", 0.0, True, False, {{}}
        return "Not right. One more try.", 0.0, False, False, {{}}

    def solution(self):
        return ["\\\\boxed{{" + answer + "}}" for _, answer in self.asked]


{normal}
'''


def _agrees(trial: Trial, kind: str) -> bool:
    """Whether comparing gives full marks to just those answers that the package does."""
    wanted = normal(trial.question.answer, kind)
    return all((marks >= FULL) == (normal(text, kind) == wanted) for text, marks in trial.marks)


def _reordered(answer: str) -> list[str]:
    """Return a list's items in another order, for scorers to which order does not matter."""
    found = []
    inner = answer.strip("[](){}")
    for separator in SEPARATORS:
        items = inner.split(separator)
        if len(items) > 1:
            found.append(answer.replace(inner, separator.join(reversed(items))))
            found.append(answer.replace(inner, separator.join([*items[1:], items[0]])))
            break
    return found


def _numbers(answer: str) -> list[str]:
    """Return other ways to write a number, and its neighbours."""
    try:
        value = Fraction(answer.replace(",", ""))
    except (ValueError, ZeroDivisionError):
        return []
    near = [str(float(value) + off) for off in (1e-9, 1e-5, 1e-3, 0.01)]
    whole = [f"{int(value)}.0", f"0{answer}", f"+{answer}", f"{int(value):,}"]
    beside = [str(int(value) + 1), str(int(value) - 1), str(-int(value))]
    if value.denominator > 1:
        equal = [f"{by * value.numerator}/{by * value.denominator}" for by in (1, 2, 3)]
        return [*near, *equal, str(float(value)), f"{answer}0"]
    return [*near, *whole, *beside, hex(int(value))]
