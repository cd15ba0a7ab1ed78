"""Reading a design, code and hint, out of a completion, and what follows on one.

Asked for is one fenced block with the program and, after it, one line that starts with ``hint:``. What
departs from that and still can be read in one way only is read, and the design is marked with what was
mended in the reading. The program itself is never touched. Reasoning before ``</think>`` is not part of
an answer.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

HintSource = Literal["inline", "separate"]
Repair = Literal["", "no fence", "open fence", "several programs", "hint first", "hint decorated"]

LONGEST_MESSAGE = 2000
"""Characters of a check's message that a follow-up shows."""
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_PROGRAM = re.compile(r"^class [ \t]*\w*Env\b", re.MULTILINE)
_BEGINNING = re.compile(
    r"^(?:import \w|from \w\S* import|class \w|def \w|@\w|#!|\"\"\")", re.MULTILINE
)
_HINT = re.compile(
    r"^[ \t]*(?P<before>[#*_>-]*)[ \t]*hint[ \t]*(?P<mid>[*_]*)[ \t]*:[ \t]*(?P<after>[*_]*)"
    r"(?P<text>.*(?:\n(?![ \t]*(?:\n|$|`{3}|~{3})).*)*)",
    re.IGNORECASE | re.MULTILINE,
)
_THOUGHT = "</think>"


@dataclass(frozen=True)
class Design:
    """A completion that could be read. ``repaired`` says what was not as asked, "" when all was."""

    source: str
    hint: str
    repaired: str = ""


@dataclass(frozen=True)
class Unreadable:
    """A completion that could not be read, and what the author should mend."""

    reason: str
    detail: str


@dataclass(frozen=True)
class _Block:
    """A piece of text that may be a program: where it ends, whether its fence was closed."""

    text: str
    start: int
    end: int
    closed: bool


def read_design(text: str, stop: str, hint: HintSource = "inline") -> Design | Unreadable:
    """Return the program with a class ``...Env`` and the hint that stands with it.

    ``stop`` is why the completion ended; one that was cut off at its token budget is not read,
    since half a program that happens to parse is not what the author meant. With a ``separate``
    hint none is looked for, and the design's is empty.
    """
    if stop != "end":
        return Unreadable("cut_off", "the completion was cut off at its token budget; write less")
    answer = _answer(text)
    if answer is None:
        return Unreadable("no_code", "the reasoning was never ended with </think>; think less")
    found = _program(answer)
    if found is None:
        return Unreadable(
            "no_code", "no block with a class ...Env in it; put the program in ```python"
        )
    block, repairs = found
    source = block.text.strip("\n") + "\n"
    if hint == "separate":
        return Design(source, "", ", ".join(repairs))
    read = _hint(answer, block)
    if read is None:
        return Unreadable("no_hint", "after the code write one line that starts with `hint:`")
    words, more = read
    return Design(source, words, ", ".join(repairs + more))


def read_hint(text: str, stop: str) -> str | Unreadable:
    """Return the hint of a completion that was asked for nothing else: its text or `hint:` line."""
    if stop != "end":
        return Unreadable("no_hint", "the hint was cut off at its token budget")
    answer = _answer(text)
    if answer is None or not answer.strip():
        return Unreadable("no_hint", "the completion that was to be the hint says nothing")
    match = _HINT.search(answer)
    return _one_line(match["text"] if match else answer)


def follow_up(stage: str, detail: str, hint: HintSource) -> str:
    """Return what the designer is told about a design that was refused at ``stage``."""
    ending = "" if hint == "separate" else ", then the line that starts with `hint:`"
    # A message may quote the program's own text: one line of what can be printed.
    told = "".join(char if char.isprintable() else " " for char in detail)[:LONGEST_MESSAGE]
    return prompt("repair").format(stage=stage, detail=told, ending=ending).strip()


def ask_hint(source: str) -> str:
    """Return the prompt that shows a program and asks for its hint."""
    return prompt("hint").format(source=source.strip()).strip()


@cache
def prompt(name: str) -> str:
    """Return a prompt file of ``envgen/prompts``."""
    return (files("envgen") / "prompts" / f"{name}.md").read_text(encoding="utf-8")


@cache
def version_of(name: str) -> str:
    """Return the name of a prompt file and a digest of it, stored with what it led to."""
    return f"{name}-{hashlib.sha256(prompt(name).encode()).hexdigest()[:12]}"


def _answer(text: str) -> str | None:
    """Return what follows the reasoning; None when the reasoning has no end."""
    _before, ended, after = text.rpartition(_THOUGHT)
    if ended:
        return after
    return None if text.lstrip().startswith("<think>") else text


def _program(text: str) -> tuple[_Block, list[Repair]] | None:
    """Return the block that is the program, and what departed from one closed block."""
    programs = [block for block in _blocks(text) if _PROGRAM.search(block.text)]
    if programs:
        # Whoever writes the program twice means the second: the first was a draft of it.
        block = programs[-1]
        repairs: list[Repair] = [] if block.closed else ["open fence"]
        return block, repairs + (["several programs"] if len(programs) > 1 else [])
    if _FENCE.search(text):
        return None  # a class outside of the blocks is talk about one, or half in and half out
    start = _BEGINNING.search(text)
    if start is None:
        return None
    end = _before_hint(text, start.start())
    block = _Block(text[start.start() : end], start.start(), end, closed=False)
    return (block, ["no fence"]) if _PROGRAM.search(block.text) else None


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the fenced blocks; one that is never closed ends at the hint or with the text."""
    at = 0
    while opened := _FENCE.search(text, at):
        start = min(opened.end() + 1, len(text))
        mark = opened[1]
        # A closing fence is at least as long as the one that opened, with nothing behind it.
        close = re.compile(rf"^ {{0,3}}{re.escape(mark)}{re.escape(mark[0])}*[ \t]*$", re.MULTILINE)
        closed = close.search(text, start)
        if closed is None:
            end = _before_hint(text, start)
            yield _Block(text[start:end], opened.start(), end, closed=False)
            return
        yield _Block(text[start : closed.start()], opened.start(), closed.end(), closed=True)
        at = closed.end()


def _before_hint(text: str, start: int) -> int:
    hint = _HINT.search(text, start)
    return hint.start() if hint else len(text)


def _hint(text: str, block: _Block) -> tuple[str, list[Repair]] | None:
    """Return the hint after the program, else the last one before it, and what was not as asked."""
    match, repairs = _HINT.search(text, block.end), list[Repair]()
    if match is None:
        earlier = list(_HINT.finditer(text[: block.start]))
        if not earlier:
            return None
        match, repairs = earlier[-1], ["hint first"]
    if match["before"] or match["mid"] or match["after"]:
        repairs.append("hint decorated")
    words = _one_line(match["text"])
    return (words, repairs) if words else None


def _one_line(text: str) -> str:
    return " ".join(text.split()).strip("*_ ")
