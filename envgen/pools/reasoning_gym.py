"""Tasks of the package ``reasoning-gym`` as environment programs."""

from functools import partial
from typing import Any

from envgen.pools.questions import MOST, Question, program
from envgen.pools.trying import Hidden, collect, judged
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


def names() -> list[str]:
    """Return the names of all tasks."""
    from reasoning_gym.factory import DATASETS

    return sorted(name for name in DATASETS if name != "composite")


def make(task: str) -> tuple[str, list[str], str]:
    """Return title, skills and source of a task's program. Raises ``Refusal``."""
    import reasoning_gym
    from reasoning_gym.factory import DATASETS

    data = reasoning_gym.create_dataset(task, size=3 * MOST, seed=derive(0, "pool", task) % 2**31)
    asked, entries = collect(lambda number: _asked(data[number]))
    kind, questions = judged(asked, entries, partial(_score, data))
    title = f"Answer questions of the kind {task.replace('_', ' ')}."
    folder = DATASETS[task][0].__module__.split(".")[1]
    skill = SKILLS.get(folder)
    source = program("reasoning-gym", task, title, questions, kind)
    return title, [skill] if skill else [], source


def _asked(entry: dict[str, Any]) -> tuple[Question, dict[str, Any]] | None:
    answer = entry.get("answer")
    if not isinstance(answer, str) or not answer.strip():
        return None
    return Question(entry["question"], answer), entry


def _score(data: Any, entry: dict[str, Any], answer: str, hidden: Hidden | None) -> float:
    """Return the package's marks; where its scorer fails it gives none."""
    shown = entry if hidden is None else {**entry, "question": "", "metadata": hidden}
    try:
        return float(data.score_answer(answer, shown))
    except Exception:
        return 0.0
