"""Reasoning blocks: what a reply says once its thinking is taken out."""

from dataclasses import dataclass

OPEN, CLOSE = "<think>", "</think>"
EMPTY = f"{OPEN}\n\n{CLOSE}\n\n"
"""What templates write where a turn has no reasoning, and where it is to have none."""


@dataclass(frozen=True)
class Said:
    """A reply without its reasoning. ``finished`` is False when it ended while still thinking."""

    answer: str
    finished: bool


def said(text: str, opened: bool = False) -> Said:
    """Take the reasoning out of a reply; ``opened``: the prompt began the first block already.

    A closing mark that nothing opened ends reasoning all the same, as it does for the templates,
    which cut at the last one.
    """
    outside: list[str] = []
    rest, inside = text, opened
    while True:
        if inside:
            _, closed, rest = rest.partition(CLOSE)
            if not closed:
                return Said("".join(outside), False)
        before, begun, after = rest.partition(OPEN)
        _, stray, tail = before.rpartition(CLOSE)
        if stray:
            outside.clear()
        outside.append(tail)
        if not begun:
            return Said("".join(outside), True)
        rest, inside = after, True
