"""GPQA-Diamond: 198 questions of graduate science with four choices.

The authors ask that the questions are never put online in plain text, and the data set is gated: it
is read with the user's own access and nothing of it is stored but the letters' marks.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.suites import data
from bench.suites.answers import letter
from bench.suites.suite import NO_ANSWER, Group, Mark, Question, Talk
from solver.chat import Spoken
from spadekit.errors import BadInput
from spadekit.seeds import derive

PATTERNS = ("gpqa_diamond*.csv", "gpqa_diamond*.parquet", "gpqa_diamond*.jsonl")
LETTERS = ("A", "B", "C", "D")
PROMPT = (
    "Answer this multiple-choice question. Think step by step, and put the letter of your choice, "
    "one of A, B, C and D, within \\boxed{{}}.\n\n{question}\n\n{choices}"
)
COLUMNS = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")


@dataclass(frozen=True)
class Gpqa:
    """The questions, their choices in an order of the seed's. Marking compares letters."""

    revision: str
    questions: tuple[Question, ...]
    name: str = "gpqa_diamond"
    group: Group = "reasoning"

    async def ask(self, question: Question, talk: Talk) -> Mark:
        """Ask a question; the letter is in the last box."""
        text, choices, right = question.data
        lines = "\n".join(f"{name}) {one}" for name, one in zip(LETTERS, choices, strict=True))
        reply = await talk.say([Spoken("user", PROMPT.format(question=text, choices=lines))])
        found = letter(reply, LETTERS)
        return NO_ANSWER if found is None else Mark(float(found == right))

    async def gold(self, question: Question) -> Sequence[str]:
        """The right letter in a box."""
        return [f"\\boxed{{{question.data[2]}}}"]

    def silence_wins(self, question: Question) -> bool:
        """Never."""
        return False


def load(where: str, kept: Path, seed: int) -> Gpqa:
    """Load the questions, with the columns of the published CSV file."""
    files = data.find(where, PATTERNS, kept)
    questions: list[Question] = []
    for row in data.rows(files.paths[0]):
        number = len(questions) + 1
        where_in = f"{files.paths[0].name}, row {number}"
        text = data.text(row, where_in, "Question").strip()
        choices = [data.text(row, where_in, column).strip() for column in COLUMNS]
        record = str(row.get("Record ID") or number)
        order = list(range(len(choices)))
        random.Random(derive(seed, "gpqa", record)).shuffle(order)
        shown = tuple(choices[index] for index in order)
        domain = str(row.get("High-level domain") or "science")
        questions.append(Question(record, domain, (text, shown, LETTERS[order.index(0)])))
    if not questions:
        raise BadInput(f"{where}: no question in it")
    if len({one.id for one in questions}) < len(questions):
        raise BadInput(f"{files.paths[0]}: a record stands in it twice")
    return Gpqa(files.revision, tuple(questions))
