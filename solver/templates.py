"""What a chat template does to a conversation that goes on, found out on placeholder conversations.

Two manners are sound to train on:

- *appended*: a turn stays as it was said, so a conversation is one sequence of ids that only grows;
- *separate*: earlier turns lose their reasoning (Qwen3, DeepSeek-R1), or the prompt opens a reply with
  a reasoning block that past turns lack. Every turn is then a sequence of its own with the prompt that
  it was sampled from, rendered anew.

A template of any other manner is refused: what it rewrites, and when, cannot be told.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from solver.thinking import CLOSE, EMPTY, OPEN
from solver.toolcalls import Dialect
from spadekit.errors import BadInput

Tools = Sequence[Mapping[str, Any]]
Render = Callable[[Sequence[Mapping[str, str]], Tools, bool], str]
"""Messages, tools, whether to open a reply: the text. Raises ``BadInput`` where the template does."""

REPLY = "\ue000reply\ue001"
THOUGHT = f"{OPEN}\n\ue002thought\ue003\n{CLOSE}\n\n"
PROBE = "\ue004probe\ue005"
TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "probe",
        "description": "Probe.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
}


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
    """False: the template leaves tools out, and they have to be told in words."""
    no_tools: str
    """Why conversations with tools cannot be had; empty: they can."""


def examine(render: Render, source: str) -> Manner:
    """Find out a template's manner. Raises ``BadInput`` with the reason for one that is refused."""
    asked = [_user(PROBE)]
    before = render(asked, (), False)
    prompt = render(asked, (), True)
    if not prompt.startswith(before):
        raise BadInput("the chat template rewrites the conversation when it opens a reply")
    header = prompt[len(before) :]
    separate, close = _appended(render, header)
    if separate:
        # Only reasoning has a known way out.
        stripped = "strips the reasoning" in separate
        if not (stripped or OPEN in header) or not _separable(render, header):
            raise BadInput(
                f"the chat template is not prefix-preserving: it {separate}; "
                "use a model whose template leaves past turns alone"
            )
    shows_tools, no_tools = _tools(render, bool(separate))
    llama3 = "<tool_call>" not in source and (
        "<|python_tag|>" in source or '"parameters": dictionary' in source
    )
    return Manner(
        separate,
        header.rstrip().endswith(OPEN),
        close,
        "llama3" if llama3 and shows_tools else "hermes",
        shows_tools,
        no_tools,
    )


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def _appended(render: Render, header: str) -> tuple[str, str]:
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
            conversation.append(_assistant(turn))
            finished = render(conversation, (), False)
            close = close or finished[finished.rfind(REPLY) + len(REPLY) :]
            conversation.append(_user(f"{PROBE}{number}"))
            longer = render(conversation, (), True)
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


def _separable(render: Render, header: str) -> bool:
    """Whether past turns without their reasoning are left alone, question and answer alike."""
    opening = header.partition(OPEN)[0]
    for reasoning in ("",) if CLOSE in header else ("", THOUGHT):
        conversation = [_user(PROBE)]
        past = render(conversation, (), False)
        for number in range(3):
            conversation += [_assistant(reasoning + REPLY), _user(f"{PROBE}{number}")]
            longer = render(conversation, (), False)
            kept = longer.startswith(past + opening)
            # Some leave the line breaks behind the block where they are.
            if not kept or not longer[len(past + opening) :].lstrip("\n").startswith(REPLY):
                return False
            past = longer
    return True


def _tools(render: Render, separate: bool) -> tuple[bool, str]:
    """Return whether the template shows tools, and why it cannot be used with them ("" it can)."""
    asked = [_user(PROBE)]
    spoken = [*asked, _assistant(REPLY), {"role": "tool", "content": PROBE}, _user(PROBE)]
    try:
        prompt = render(asked, [TOOL], True)
        shown = prompt != render(asked, (), True)
        whole = render(spoken, [TOOL] if shown else (), True)
        plain = render(spoken, (), True)
    except BadInput as error:
        return True, str(error)
    if separate:
        kept = REPLY in whole and whole.count(PROBE) == prompt.count(PROBE) + 2
    else:
        # Suffixes are rendered without the tools.
        kept = whole.startswith((prompt + REPLY, prompt + EMPTY + REPLY))
        kept = kept and _after(whole) == _after(plain)
    return (
        shown,
        "" if kept else "the chat template rewrites earlier turns of a conversation with tools",
    )


def _after(text: str) -> str:
    return text[text.rfind(REPLY) + len(REPLY) :]
