"""What a chat template does to a conversation that goes on, found out on placeholder conversations.

Two manners are sound to train on:

- *appended*: a turn stays as it was said, so a conversation is one sequence of ids that only grows;
- *separate*: earlier turns lose their reasoning (Qwen3, DeepSeek-R1), or the prompt opens a reply with
  a reasoning block that past turns lack. Every turn is then a sequence of its own with the prompt that
  it was sampled from, rendered anew.

A template of any other manner is refused: what it rewrites, and when, cannot be told.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any

from solver.thinking import CLOSE, EMPTY, OPEN, said
from solver.toolcalls import FOREIGN, Dialect, dialect_of
from spadekit.errors import BadInput

Tools = Sequence[Mapping[str, Any]]
Render = Callable[[Sequence[Mapping[str, str]], Tools, bool], str]
"""Messages, tools, whether to open a reply: the text. Raises ``BadInput`` where the template does."""

REPLY = "\ue000reply\ue001"
_THOUGHT = "\ue002thought\ue003"
THOUGHT = f"{OPEN}\n{_THOUGHT}\n{CLOSE}\n\n"
PROBE = "\ue004probe\ue005"
TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "probe",
        "description": "Probe.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
}
OTHER_REASONING = ("<|channel>", "<|channel|>", "[THINK]", "<|START_THINKING|>")
"""Marks of reasoning that are not read here: what was thought would count as an action."""
_BLOCK = re.compile(rf"{OPEN}(?:(?!{OPEN}).)*?{CLOSE}|{OPEN}\s*$", re.DOTALL)


@dataclass(frozen=True)
class Manner:
    """How a template treats a conversation."""

    separate: str
    """Why every turn is a sequence of its own; empty: conversations are appended to."""
    opened: bool
    """Whether the prompt begins the reply's reasoning, so that a reply starts in the middle of it."""
    close: str
    """The text from the end of a reply on."""
    dialect: Dialect
    shows_tools: bool
    """False: the template leaves tools out, or asks for calls in a form that is not read here; they
    have to be told in words."""
    no_tools: str
    """Why conversations with tools cannot be had; empty: they can."""
    takes_system: bool
    """Whether there may be a system message."""
    apart: bool
    """Whether reasoning is given in a field of its own (``reasoning_content``)."""


def assistant(text: str, apart: bool) -> dict[str, str]:
    """Return a past reply as the template wants it, its reasoning ``apart`` or as part of the text.

    Reasoning without an end, in a reply that was cut, is ended: it is reasoning like any other, with
    nothing said after it.
    """
    if not said(text).finished:
        text += f"\n{CLOSE}\n\n"
    thought, ended, answer = text.rpartition(CLOSE)
    if not ended or not apart:
        return {"role": "assistant", "content": text}
    reasoning = thought.rpartition(OPEN)[2].strip("\n")
    return {
        "role": "assistant",
        "content": answer.lstrip("\n"),
        "reasoning_content": reasoning,
    }


def examine(render: Render, source: str) -> Manner:
    """Find out a template's manner. Raises ``BadInput`` with the reason for one that is refused."""
    foreign = next((mark for mark in OTHER_REASONING if mark in source), "")
    if foreign and CLOSE not in source:
        raise BadInput(
            f"the chat template marks reasoning with {foreign}, which is not read here; use a model that "
            f"marks it with {OPEN} and {CLOSE}, or one that does not reason"
        )
    asked = [_user(PROBE)]
    prompt = render(asked, (), True)
    # Some end a conversation that is not to go on with a mark of its own.
    header = prompt[len(commonprefix([render(asked, (), False), prompt])) :]  # noqa: RUF071 - text
    ended = [*asked, assistant(THOUGHT + REPLY, True)]
    apart = _THOUGHT in render(ended, (), False)
    separate, close = _appended(render, apart, header)
    # Only reasoning has a known way out.
    if separate and not (CLOSE in source and _separable(render, apart, header)):
        raise BadInput(
            f"the chat template is not prefix-preserving: it {separate}; "
            "use a model whose template leaves past turns alone"
        )
    opened = header.rstrip().endswith(OPEN)
    shows_tools, no_tools = _tools(render, source, apart, opened, bool(separate))
    return Manner(
        separate,
        opened,
        close,
        dialect_of(source) if shows_tools else "hermes",
        shows_tools,
        no_tools,
        _renders(render, [{"role": "system", "content": PROBE}, *asked]),
        apart,
    )


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _appended(render: Render, apart: bool, header: str) -> tuple[str, str]:
    """Return why a conversation cannot be appended to ("" it can), and what closes a reply."""
    turns = [REPLY, THOUGHT + REPLY]
    if header.rstrip().endswith(OPEN):
        turns = [THOUGHT + REPLY]
    elif OPEN in header:
        turns = [REPLY]
    close, reason = "", ""
    for turn in turns:
        # What is sampled begins where the prompt ends.
        reply = turn.removeprefix(header[header.find(OPEN) :]) if OPEN in header else turn
        conversation = [_user(PROBE)]
        whole = render(conversation, (), True)
        for number in range(3):
            conversation.append(assistant(turn, apart))
            finished = render(conversation, (), False)
            conversation.append(_user(f"{PROBE}{number}"))
            longer = render(conversation, (), True)
            # With some the next turn's mark is all that ends a reply.
            close = close or _after(finished) or _after(longer)
            for after in (finished, longer):
                # A turn without reasoning may be given an empty block: it is the turn's own.
                if not after.startswith((whole + reply, whole + EMPTY + reply)):
                    reason = reason or _why(whole, reply, after)
            whole = longer
    return reason, close


def _why(before: str, reply: str, after: str) -> str:
    if reply not in after and REPLY in after:
        return "strips the reasoning from earlier turns"
    if after.startswith(before[: before.rfind(PROBE)]) and reply in after:
        return "opens a past turn differently from the generation prompt"
    return "rewrites earlier turns when the conversation goes on"


def _separable(render: Render, apart: bool, header: str) -> bool:
    """Whether past turns are left alone but for reasoning and white space."""
    for turn in (REPLY, THOUGHT + REPLY):
        conversation = [_user(PROBE)]
        past = _bare(render(conversation, (), False))
        for number in range(3):
            conversation += [assistant(turn, apart), _user(f"{PROBE}{number}")]
            longer = _bare(render(conversation, (), False))
            if not longer.startswith(past + _bare(header) + REPLY):
                return False
            past = longer
    return True


def _bare(text: str) -> str:
    return "".join(_BLOCK.sub("", text).split())


def _tools(
    render: Render, source: str, apart: bool, opened: bool, separate: bool
) -> tuple[bool, str]:
    """Return whether the template shows tools, and why it cannot be used with them ("" it can)."""
    asked = [_user(PROBE)]
    turn = THOUGHT + REPLY if opened else REPLY
    spoken = [*asked, assistant(turn, apart), {"role": "tool", "content": PROBE}, _user(PROBE)]
    try:
        prompt = render(asked, [TOOL], True)
        shown = prompt != render(asked, (), True) and not any(mark in source for mark in FOREIGN)
        if not shown:
            prompt = render(asked, (), True)
        whole = render(spoken, [TOOL] if shown else (), True)
        plain = render(spoken, (), True)
    except BadInput as error:
        return True, str(error)
    if separate:
        kept = REPLY in whole and whole.count(PROBE) == prompt.count(PROBE) + 2
    else:
        reply = turn.removeprefix(f"{OPEN}\n") if opened else turn
        kept = whole.startswith((prompt + reply, prompt + EMPTY + reply))
        # Suffixes are rendered without the tools.
        kept = kept and _after(whole) == _after(plain)
    return (
        shown,
        "" if kept else "the chat template rewrites earlier turns of a conversation with tools",
    )


def _renders(render: Render, messages: Sequence[Mapping[str, str]]) -> bool:
    try:
        render(messages, (), True)
    except BadInput:
        return False
    return True


def _after(text: str) -> str:
    return text[text.rfind(REPLY) + len(REPLY) :]
