"""Tasks of the package ``rlve-gym`` (its module is called ``Gym``) as environment programs."""

import re
import time
from typing import Any

from envgen.pools.questions import MOST, Question, Refusal, Trial, judge, program, try_all
from spadekit.seeds import derive

TIME_S = 30.0
"""Seconds of CPU for making a task's questions, and as many for trying out its scorer."""
GENERATE_S = 5
LEVELS = 3
"""How often a task is made harder by its own controller: the easiest instances are often few."""
KNOWN = ("reference_answer", "gold_answer")


class Asked(Exception):
    """The scorer asked for more than the reference answer."""


class Hidden(dict[str, Any]):
    """An instance's parameters but for the reference answer; notes when it is asked for others."""

    asked = False

    def __getitem__(self, key: str) -> Any:
        if key not in KNOWN:
            self.asked = True
            raise Asked
        return super().__getitem__(key)

    def _ask(self, *_: object, **__: object) -> Any:
        self.asked = True
        raise Asked

    __contains__ = __iter__ = __len__ = get = items = keys = values = _ask


def names() -> list[str]:
    """Return the names of all tasks."""
    from Gym.environments import identifier2environment

    return sorted(identifier2environment)


def make(task: str) -> tuple[str, list[str], str]:
    """Return title, skills and source of a task's program. Raises ``Refusal``."""
    from Gym.environments import identifier2environment
    from Gym.parameter_controllers import identifier2controller

    controller = identifier2controller[task]()
    levels = list(controller.get_parameter_list())
    for _ in range(LEVELS - 1):
        controller.update()
        levels += controller.get_parameter_list()
    made: dict[str, tuple[Any, str]] = {}
    began = time.process_time()
    for number in range(3 * MOST):
        instance = identifier2environment[task]()
        seed = derive(0, "pool", task, number) % 2**31
        if instance.generator(seed, levels[number % len(levels)], timeout_second=GENERATE_S):
            if "reference_answer" not in instance.parameter:
                raise Refusal("it has no reference answer: many answers are right")
            answer = _written(instance.parameter["reference_answer"])
            made.setdefault(instance.prompt_generator(), (instance, answer))
        if len(made) == MOST:
            break
        if time.process_time() - began > TIME_S:
            # Cut here, the program would depend on how fast the machine is.
            raise Refusal("making its questions takes too long")
    known = [instance for instance, _ in made.values()]
    asked = [Question(text, answer) for text, (_, answer) in made.items()]

    def attempt(place: int, answers: list[str]) -> Trial:
        return _try(known[place], asked[place], answers)

    kind, questions = judge(try_all(asked, attempt, TIME_S))
    words = " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", task)).lower()
    title = f"Answer questions of the kind {words}."
    return title, ["mathematical_reasoning"], program("rlve-gym", task, title, questions, kind)


def _written(answer: Any) -> str:
    if not isinstance(answer, int | str) or isinstance(answer, bool):
        raise Refusal("its reference answer is no text and no whole number")
    return str(answer)


def _try(instance: Any, question: Question, answers: list[str]) -> Trial:
    parameter = instance.parameter
    marks, deeper = [], False
    for answer in answers:
        hidden = Hidden({key: parameter[key] for key in KNOWN if key in parameter})
        instance.parameter = hidden
        blind = _score(instance, answer)
        instance.parameter = parameter
        marks.append((answer, _score(instance, answer)))
        deeper = deeper or hidden.asked or blind != marks[-1][1]
    return Trial(question, tuple(marks), deeper)


def _score(instance: Any, answer: str) -> float:
    """Return 1 for what the package calls accurate; where its scorer fails it gives none."""
    first, last = instance.answer_markers
    try:
        return float(instance.verifier(f"{first}{answer}{last}")["accuracy"])
    except Exception:
        return 0.0
