"""Forty programs and forty look-alikes: tasks that share a skeleton and differ in their rule.

Twenty programs are seeds of the project. The others, and all look-alikes, are in ``programs.txt``:
five skeletons, each filled with twelve hand-written rules, four of them known and eight not. They
are text here; whoever runs them does so in the sandbox.
"""

import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from envgen import seeds

SEEDS = 20


@dataclass(frozen=True)
class Task:
    """One program and what it is called."""

    name: str
    source: str


@cache
def known() -> tuple[Task, ...]:
    """Return the forty programs that are in the memory."""
    chosen = seeds.load()[:: max(1, len(seeds.load()) // SEEDS)][:SEEDS]
    return (*(Task(seed.name, seed.source) for seed in chosen), *_filled("known"))


@cache
def look_alikes() -> tuple[Task, ...]:
    """Return the forty other tasks in the skeletons of the known ones."""
    return _filled("other")


def _filled(kind: str) -> tuple[Task, ...]:
    tasks = []
    text = Path(__file__).with_name("programs.txt").read_text(encoding="utf-8")
    for group in text.split("=== ")[1:]:
        head, *rules = group.split("\n--- ")
        skeleton = head.partition("\n")[2].strip()
        for rule in rules:
            first, _, body = rule.partition("\n")
            mark, _, rest = first.partition(" ")
            name, _, title = rest.partition(" | ")
            if mark == kind:
                tasks.append(Task(name, _fill(skeleton, name, title, body.strip())))
    return tuple(tasks)


def _fill(skeleton: str, name: str, title: str, rule: str) -> str:
    words = "".join(ch if ch.isalnum() else " " for ch in name.replace("'", "")).split()
    source = skeleton.replace("NAME", "".join(word.title() for word in words))
    source = source.replace("TITLE", title)
    return source.replace("    RULE", textwrap.indent(rule, "    ")) + "\n"
