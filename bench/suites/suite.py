"""What a suite is to the runner: questions, how one is asked and marked, and its reference answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from solver.chat import Spoken
from solver.toolcalls import Dialect

Group = Literal["reasoning", "tools"]
Tools = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Question:
    """One question. ``id`` is stable between runs; ``category`` is a row of the long table."""

    id: str
    category: str
    data: Any = None


@dataclass(frozen=True)
class Mark:
    """A mark in [0, 1], and why there is none where the suite can tell: ``no answer``, ``timeout``."""

    score: float
    note: str = ""


NO_ANSWER = Mark(0.0, "no answer")


class Talk(Protocol):
    """A conversation with whatever answers: a policy, or reference answers read out."""

    @property
    def dialect(self) -> Dialect:
        """How tool calls are written in it."""

    @property
    def answered(self) -> bool:
        """Whether the last reply came: silence that was not chosen must not win where silence is right."""

    async def say(self, messages: Sequence[Spoken], tools: Tools = ()) -> str:
        """Add messages, let the other side speak; return its reply without its reasoning.

        ``tools`` are the schemas that it sees this time. Empty, and not ``answered``, where it had no
        room, where its chat template cannot show the tools, where its reasoning never came to an end.
        """


class Suite(Protocol):
    """A benchmark that has been loaded."""

    @property
    def name(self) -> str:
        """Its name on the command line."""

    @property
    def group(self) -> Group:
        """Which of the paper's two groups it belongs to."""

    @property
    def revision(self) -> str:
        """Which data this is: a commit, a digest of files, a package's version and a seed."""

    @property
    def questions(self) -> Sequence[Question]:
        """All its questions, always in the same order."""

    async def ask(self, question: Question, talk: Talk) -> Mark:
        """Ask one question and mark what comes back; raises ``SandboxFault`` and ``OurFault`` only."""

    async def gold(self, question: Question) -> Sequence[str] | None:
        """Replies (dialect ``hermes``) that must earn full marks; None where the data has none."""

    def silence_wins(self, question: Question) -> bool:
        """Whether saying nothing is right: a question to which no tool fits."""
