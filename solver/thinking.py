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
    place, inside = 0, opened
    while True:
        if inside:
            end = text.find(CLOSE, place)
            if end < 0:
                return Said("".join(outside), False)
            place = end + len(CLOSE)
        begin = text.find(OPEN, place)
        before = text[place : begin if begin >= 0 else len(text)]
        if CLOSE in before:
            outside.clear()
        outside.append(before.rpartition(CLOSE)[2])
        if begin < 0:
            return Said("".join(outside), True)
        place, inside = begin + len(OPEN), True
