"""Asking: which questions, how many at once, what was asked before is not asked again."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

from bench.suites.store import Marks
from bench.suites.suite import Mark, Question, Suite
from bench.suites.talk import PolicyTalk, Reading
from solver.policy import Gathering, Policy, Sampling
from spadekit.seeds import derive
from spadekit.tasks import together

T = TypeVar("T")


@dataclass(frozen=True)
class Asker:
    """A policy and how it is asked. ``context`` is in tokens, ``at_once`` conversations."""

    policy: Policy
    sampling: Sampling
    context: int
    at_once: int

    def talk(self, suite: str, question: Question, sample: int) -> PolicyTalk:
        """Begin a conversation; its seed is the question's and the sample's."""
        sampling = replace(
            self.sampling, seed=derive(self.sampling.seed, suite, question.id, sample)
        )
        return PolicyTalk(self.policy, sampling, self.context)


@dataclass(frozen=True)
class Proof:
    """Mean marks of reference answers and of empty replies, over questions that have them.

    A grader is sound when ``gold`` is 1 and ``silence`` is 0; None where no question has any.
    """

    gold: float | None
    silence: float | None
    questions: int

    @property
    def sound(self) -> bool:
        """Whether nothing speaks against the grader."""
        return self.gold in (1.0, None) and self.silence in (0.0, None)


def chosen(suite: str, questions: Sequence[Question], limit: int, seed: int) -> list[Question]:
    """Return ``limit`` questions (0: all), as many of each category, drawn by the seed.

    A larger limit has all questions of a smaller one.
    """
    by_category: dict[str, list[Question]] = {}
    for one in questions:
        by_category.setdefault(one.category, []).append(one)
    ranked = [
        (place, derive(seed, "category", suite, category), one)
        for category, members in by_category.items()
        for place, one in enumerate(
            sorted(members, key=lambda member: derive(seed, "order", suite, member.id))
        )
    ]
    ranked.sort(key=lambda entry: entry[:2])
    picked = [one for _, _, one in ranked]
    return picked[:limit] if limit else picked


async def ask_all(
    suite: Suite,
    questions: Sequence[Question],
    samples: int,
    asker: Asker,
    marks: Marks,
    told: Callable[[], None],
) -> None:
    """Ask every question ``samples`` times; ``told`` is called after each, asked now or before."""
    known = marks.has()
    left: list[tuple[Question, int]] = []
    for sample in range(samples):
        for question in questions:
            if (question.id, sample) in known:
                told()
            else:
                left.append((question, sample))

    async def ask(one: tuple[Question, int]) -> None:
        question, sample = one
        talk = asker.talk(suite.name, question, sample)
        mark = await suite.ask(question, talk)
        notes = dict.fromkeys([*talk.notes, mark.note])
        full = Mark(mark.score, "; ".join(note for note in notes if note))
        marks.add(question, sample, full, talk.replies)
        told()

    await _each(left, asker.at_once, ask, asker.policy)


async def prove(
    suite: Suite, questions: Sequence[Question], at_once: int, told: Callable[[], None]
) -> Proof:
    """Mark reference answers and empty replies instead of a policy's."""
    gold: list[float] = []
    silence: list[float] = []

    async def try_one(question: Question) -> None:
        answers = await suite.gold(question)
        if answers is not None:
            gold.append((await suite.ask(question, Reading(answers))).score)
        if not suite.silence_wins(question):
            silence.append((await suite.ask(question, Reading())).score)
        told()

    await _each(questions, at_once, try_one)
    return Proof(_mean(gold), _mean(silence), len(questions))


async def _each(
    items: Sequence[T],
    at_once: int,
    work: Callable[[T], Awaitable[None]],
    policy: Policy | None = None,
) -> None:
    """Do the work for all items, begun in order, ``at_once`` at a time."""
    line = iter(items)

    async def client() -> None:
        # One client for item after item: a batch waits for the next question as for a turn.
        with policy.client() if isinstance(policy, Gathering) else nullcontext():
            for item in line:
                await work(item)

    await together(client() for _ in range(min(at_once, len(items))))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
