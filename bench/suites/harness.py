"""tau2 and ACEBench-Agent, whose users are played by a model of its own: their own programs run them.

An agent benchmark with a simulated user is its simulator, prompts and all; nothing of it is imitated
here. Each has a program that asks any OpenAI-compatible endpoint, so also a vLLM server with a policy
version; what it wrote is read, so that its marks stand in the table with an interval.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.suites import data
from bench.suites.config import SuitesConfig
from bench.suites.jail import Jails, Unavailable
from bench.suites.suite import Group, Mark, Question, Suite, Talk
from spadekit.errors import BadInput

_SCORES = re.compile(r"data_(agent_multi_(?:turn|step))_score\.json")
TAU2 = (
    "its user is played by another model: run `tau2 run` of sierra-research/tau2-bench against an "
    "endpoint with the policy and name its results with suites.tau2 (docs/suites.md)"
)
ACEBENCH = (
    "its user is played by another model: run generate.py and eval_main.py of ACEBench against an "
    "endpoint with the policy and name the scores' folder with suites.acebench (docs/suites.md)"
)


@dataclass(frozen=True)
class Marked:
    """A suite that another program has asked and marked; a question's data is its mark."""

    name: str
    revision: str
    questions: tuple[Question, ...]
    group: Group = "tools"

    async def ask(self, question: Question, talk: Talk) -> Mark:
        """Return the mark that the benchmark's own program gave."""
        mark: Mark = question.data
        return mark

    async def gold(self, question: Question) -> Sequence[str] | None:
        """None: nobody is asked here."""
        return None

    def silence_wins(self, question: Question) -> bool:
        """True, so that the grader of another program is not tried here."""
        return True


def tau2(config: SuitesConfig, kept: Path, jails: Jails) -> Suite:
    """Read results of ``tau2 run``: one file for each domain; a task's mark is its trials' mean."""
    if not config.tau2:
        raise Unavailable(TAU2)
    questions: list[Question] = []
    sources: dict[str, None] = {}
    for path in data.find(config.tau2, ("*.json",), kept).paths:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            info = found["info"]
            domain = str(info["environment_info"]["domain_name"])
            sources[
                f"tau2 {str(info.get('git_commit'))[:12]}, agent {info['agent_info']['llm']}, "
                f"user {info['user_info']['llm']}"
            ] = None
            trials: dict[str, list[float]] = {}
            lost = 0
            for one in found["simulations"]:
                if one.get("reward_info") is None:
                    lost += 1  # the simulation did not end: nobody's mark
                    continue
                trials.setdefault(str(one["task_id"]), []).append(_mark(one["reward_info"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{path}: no results of `tau2 run` ({error!r})"[:300]) from None
        note = f"{lost} simulations of {domain} without a mark" if lost else ""
        questions += [
            Question(f"{domain}:{task}", domain, Mark(sum(marks) / len(marks), note))
            for task, marks in trials.items()
        ]
    return _suite("tau2", config.tau2, "; ".join(sources), questions)


def acebench(config: SuitesConfig, kept: Path, jails: Jails) -> Suite:
    """Read ACEBench's scores of its two agent categories: a summary, then a line for each failure."""
    if not config.acebench:
        raise Unavailable(ACEBENCH)
    files = data.find(config.acebench, ("data_agent_multi_*_score.json",), kept)
    questions: list[Question] = []
    for path in files.paths:
        match = _SCORES.fullmatch(path.name)
        if match is None:
            raise BadInput(f"{path}: not named like data_agent_multi_turn_score.json")
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            summary, *failed = [json.loads(line) for line in lines if line.strip()]
            total, right = int(summary["total_count"]), int(summary["correct_count"])
            wrong = {int(one["id"]) for one in failed if one["valid"] is False}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{path}: no scores of ACEBench ({error!r})"[:300]) from None
        if len(wrong) != total - right or not wrong <= set(range(total)):
            raise BadInput(f"{path}: {total - right} failures are counted and {len(wrong)} listed")
        questions += [
            Question(f"{match[1]}:{number}", match[1], Mark(float(number not in wrong)))
            for number in range(total)
        ]
    models = ", ".join(sorted({path.parent.name for path in files.paths}))
    return _suite("acebench_agent", config.acebench, f"{models}, {files.revision}", questions)


def _suite(name: str, where: str, revision: str, questions: list[Question]) -> Marked:
    if not questions:
        raise BadInput(f"{where}: no marked task in it")
    if len({one.id for one in questions}) < len(questions):
        raise BadInput(f"{where}: a task stands in it twice; name the results of one run")
    return Marked(name, revision, tuple(questions))


def _mark(reward: Any) -> float:
    value = float(reward["reward"])
    if not 0 <= value <= 1:
        raise ValueError(f"a reward of {value}")
    return value
