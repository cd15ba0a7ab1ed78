"""Tasks of the package ``rlve-gym`` (its module is called ``Gym``) as environment programs."""

import re
from typing import Any

from envgen.pools.questions import Question, Refusal, program
from envgen.pools.trying import Hidden, collect, judged
from spadekit.seeds import derive

GENERATE_S = 5
LEVELS = 3
"""How often a task is made harder by its own controller: the easiest instances are often few."""
KNOWN = ("reference_answer", "gold_answer")


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

    def one(number: int) -> tuple[Question, Any] | None:
        instance = identifier2environment[task]()
        seed = derive(0, "pool", task, number) % 2**31
        if not instance.generator(seed, levels[number % len(levels)], timeout_second=GENERATE_S):
            return None
        if "reference_answer" not in instance.parameter:
            raise Refusal("it has no reference answer: many answers are right")
        answer = _written(instance.parameter["reference_answer"])
        return Question(instance.prompt_generator(), answer), instance

    kind, questions = judged(*collect(one), _score)
    words = " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", task)).lower()
    title = f"Answer questions of the kind {words}."
    return title, ["mathematical_reasoning"], program("rlve-gym", task, title, questions, kind)


def _written(answer: Any) -> str:
    if not isinstance(answer, int | str) or isinstance(answer, bool):
        raise Refusal("its reference answer is no text and no whole number")
    return str(answer)


def _score(instance: Any, answer: str, hidden: Hidden | None) -> float:
    """Return 1 for what the package calls accurate; where its scorer fails it gives none."""
    first, last = instance.answer_markers
    whole = instance.parameter
    if hidden is not None:
        hidden.update({key: whole[key] for key in KNOWN if key in whole})
        instance.parameter = hidden
    try:
        return float(instance.verifier(f"{first}{answer}{last}")["accuracy"])
    except Exception:
        return 0.0
    finally:
        instance.parameter = whole
