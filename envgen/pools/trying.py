"""What both task packages need: collecting questions, and trying a scorer with and without the instance."""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from envgen.pools.questions import MOST, Question, Refusal, Trial, judge, try_all

TIME_S = 30.0
"""Seconds of CPU for making a task's questions, and as many for trying out its scorer."""
Instance = TypeVar("Instance")


class Asked(Exception):
    """The scorer asked for more than the reference answer."""


class Hidden(dict[str, Any]):
    """What an instance knows, hidden but for what is put in here; notes when it is asked for the rest."""

    asked = False

    def _ask(self, *_: object, **__: object) -> Any:
        self.asked = True
        raise Asked

    __missing__ = __contains__ = __iter__ = __len__ = get = items = keys = values = _ask


def collect(
    make: Callable[[int], tuple[Question, Instance] | None],
) -> tuple[list[Question], list[Instance]]:
    """Return at most ``MOST`` different questions and their instances, in order.

    ``make`` gives those of a number, None where it has none. Raises ``Refusal`` where it is too slow.
    """
    found: dict[str, tuple[Question, Instance]] = {}
    began = time.process_time()
    for number in range(3 * MOST):
        if made := make(number):
            found.setdefault(made[0].text, made)
        if len(found) == MOST:
            break
        if time.process_time() - began > TIME_S:
            # Cut here, the program would depend on how fast the machine is.
            raise Refusal("making its questions takes too long")
    return [question for question, _ in found.values()], [one for _, one in found.values()]


def judged(
    questions: Sequence[Question],
    instances: Sequence[Instance],
    score: Callable[[Instance, str, Hidden | None], float],
) -> tuple[str, list[Question]]:
    """Try a scorer; return how answers are to be compared and the questions on which that is right.

    ``score`` gives the marks of an answer, with all that the instance knows or with ``Hidden`` in its
    place. Raises ``Refusal``.
    """

    def attempt(place: int, answers: list[str]) -> Trial:
        marks, deeper = [], False
        for answer in answers:
            hidden = Hidden()
            blind = score(instances[place], answer, hidden)
            marks.append((answer, score(instances[place], answer, None)))
            deeper = deeper or hidden.asked or blind != marks[-1][1]
        return Trial(questions[place], tuple(marks), deeper)

    return judge(try_all(questions, attempt, TIME_S))
