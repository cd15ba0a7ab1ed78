"""Tasks of the package ``reasoning-gym`` as environment programs."""

import time
from typing import Any

from envgen.pools.questions import MOST, Question, Refusal, Trial, judge, program, try_all
from spadekit.seeds import derive

SKILLS = {
    "algebra": "mathematical_reasoning",
    "algorithmic": "logical_deduction",
    "arc": "pattern_recognition",
    "arithmetic": "mathematical_reasoning",
    "code": "logical_deduction",
    "cognition": "pattern_recognition",
    "games": "strategic_planning",
    "geometry": "mathematical_reasoning",
    "graphs": "spatial_reasoning",
    "induction": "causal_inference",
    "logic": "logical_deduction",
    "probability": "mathematical_reasoning",
}
"""The skill of each of the package's folders."""
TIME_S = 30.0
"""Seconds of CPU for making a task's questions, and as many for trying out its scorer."""


class Asked(Exception):
    """The scorer asked for more than the reference answer."""


class Hidden(dict[str, Any]):
    """An instance's details, hidden; notes when it is asked for them."""

    asked = False

    def _ask(self, *_: object, **__: object) -> Any:
        self.asked = True
        raise Asked

    __getitem__ = __contains__ = __iter__ = __len__ = get = items = keys = values = _ask


def names() -> list[str]:
    """Return the names of all tasks."""
    from reasoning_gym.factory import DATASETS

    return sorted(name for name in DATASETS if name != "composite")


def make(task: str) -> tuple[str, list[str], str]:
    """Return title, skills and source of a task's program. Raises ``Refusal``."""
    import reasoning_gym
    from reasoning_gym.factory import DATASETS

    data = reasoning_gym.create_dataset(task, size=3 * MOST, seed=derive(0, "pool", task) % 2**31)
    entries: dict[str, dict[str, Any]] = {}
    began = time.process_time()
    for number in range(3 * MOST):
        entry = data[number]
        if isinstance(entry.get("answer"), str) and entry["answer"].strip():
            entries.setdefault(entry["question"], entry)
        if len(entries) == MOST:
            break
        if time.process_time() - began > TIME_S:
            # Cut here, the program would depend on how fast the machine is.
            raise Refusal("making its questions takes too long")
    known = list(entries.values())
    asked = [Question(entry["question"], entry["answer"]) for entry in known]

    def attempt(place: int, answers: list[str]) -> Trial:
        return _try(data, known[place], asked[place], answers)

    kind, questions = judge(try_all(asked, attempt, TIME_S))
    title = f"Answer questions of the kind {task.replace('_', ' ')}."
    folder = DATASETS[task][0].__module__.split(".")[1]
    skill = SKILLS.get(folder)
    source = program("reasoning-gym", task, title, questions, kind)
    return title, [skill] if skill else [], source


def _try(data: Any, entry: dict[str, Any], question: Question, answers: list[str]) -> Trial:
    marks, deeper = [], False
    for answer in answers:
        hidden = Hidden()
        blind = _score(data, answer, {**entry, "question": "", "metadata": hidden})
        marks.append((answer, _score(data, answer, entry)))
        deeper = deeper or hidden.asked or blind != marks[-1][1]
    return Trial(question, tuple(marks), deeper)


def _score(data: Any, answer: str, entry: dict[str, Any]) -> float:
    """Return the package's marks; where its scorer fails it gives none."""
    try:
        return float(data.score_answer(answer, entry))
    except Exception:
        return 0.0
