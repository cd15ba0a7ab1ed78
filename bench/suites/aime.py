"""AIME 2025 and 2026: thirty problems each, whose answers are integers from 0 to 999."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.suites import data
from bench.suites.answers import boxed, integer
from bench.suites.suite import NO_ANSWER, Group, Mark, Question, Talk
from solver.chat import Spoken
from spadekit.errors import BadInput

PATTERNS = ("*.parquet", "*.jsonl")
PROMPT = "{problem}\n\nReason step by step, and put your final answer within \\boxed{{}}."


@dataclass(frozen=True)
class Aime:
    """One year's problems. Marking compares integers, so that nothing needs the jail."""

    name: str
    revision: str
    questions: tuple[Question, ...]
    group: Group = "reasoning"

    async def ask(self, question: Question, talk: Talk) -> Mark:
        """Ask a problem; the answer is in the last box."""
        problem, answer = question.data
        reply = await talk.say([Spoken("user", PROMPT.format(problem=problem))])
        found = integer(boxed(reply))
        return NO_ANSWER if found is None else Mark(float(found == answer))

    async def gold(self, question: Question) -> Sequence[str]:
        """The answer in a box, with the zeros that the answer sheet asks for."""
        return [f"\\boxed{{{question.data[1]:03d}}}"]

    def silence_wins(self, question: Question) -> bool:
        """Never."""
        return False


def load(name: str, where: str, kept: Path) -> Aime:
    """Load a year: rows with ``problem`` (or ``question``, ``prompt``) and ``answer``."""
    files = data.find(where, PATTERNS, kept)
    questions: list[Question] = []
    for path in files.paths:
        for row in data.rows(path):
            where_in = f"{path.name}, row {len(questions) + 1}"
            problem = data.text(row, where_in, "problem", "question", "prompt")
            answer = integer(data.text(row, where_in, "answer", "label"))
            if answer is None or not 0 <= answer <= 999:
                raise BadInput(f"{where_in}: the answer is no integer from 0 to 999")
            questions.append(Question(f"{len(questions) + 1}", name, (problem, answer)))
    if not questions:
        raise BadInput(f"{where}: no problem in it")
    return Aime(name, files.revision, tuple(questions))
