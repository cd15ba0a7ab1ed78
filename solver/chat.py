"""Conversations as token ids: prompts and suffixes from a model's chat template.

Sampled ids are never rendered again for training. Where the template is *appended* to
(``solver.templates``), a buffer starts with :meth:`Chat.start`, the sampled ids follow as they are,
and :meth:`Chat.follow` gives the suffix that closes the turn and opens the next; suffixes are cut out
of conversations whose assistant turns are placeholders. Where every turn is *separate*, its prompt is
the whole conversation by :meth:`Chat.start`, as the model will meet it in use, and the ids sampled
after it are a sequence of their own. :func:`next_prompt` does either.

Templates that tell the date get a fixed one, so that a prompt is the same on every day.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from solver.bounded import check_bounded
from solver.templates import PROBE, REPLY, TOOL, Tools, assistant, examine
from solver.thinking import CLOSE, OPEN
from solver.toolcalls import MARKS, Dialect, describe
from solver.validation import read_tokenizer, stop_ids
from spadekit.errors import BadInput

Thinking = Literal["default", "on", "off"]
TODAY = (
    "{% macro strftime_now(form) %}"
    "{{ {'%d %b %Y': '26 Jul 2024', '%d %B %Y': '26 July 2024'}.get(form, '2024-07-26') }}"
    "{% endmacro %}{{ '' }}"
)
"""Put before a template that asks for the date: the day that Llama 3.1's falls back to."""
SPOKEN = frozenset((OPEN, CLOSE, *MARKS))
"""Tokens that are part of what a reply says, whether or not a tokenizer calls them special."""


class Turn(Protocol):
    """Anything with a role and a text; ``sandbox.Message`` is one."""

    @property
    def role(self) -> str:
        """system, user, assistant or tool."""

    @property
    def content(self) -> str:
        """The text."""


class UnreadableTools(Exception):
    """The template renders tools, but not these: their schemas are to blame."""


@dataclass(frozen=True)
class Spoken:
    """A message of a conversation."""

    role: str
    content: str


class Conversations(Protocol):
    """How a policy's conversations are kept; :class:`Chat` is one."""

    @property
    def text_only(self) -> bool:
        """Whether the ids merely carry text: nothing to store as tokens, nothing to train on."""

    @property
    def separate(self) -> str:
        """Why every turn is a sequence of its own; empty: conversations are appended to."""

    @property
    def opened(self) -> bool:
        """Whether prompts begin the reply's reasoning, so that a reply starts in the middle of it."""

    @property
    def dialect(self) -> Dialect:
        """How the model writes tool calls."""

    def start(self, messages: Sequence[Turn], tools: Tools = ()) -> list[int]:
        """Return the ids of a conversation, ending where the assistant is to speak."""

    def follow(self, messages: Sequence[Turn], stop: str = "end") -> list[int]:
        """Return the ids from the end of a sampled reply to where the assistant speaks again."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of sampled ids without special tokens."""


def next_prompt(
    chat: Conversations,
    told: Sequence[Turn],
    said_ids: Sequence[int],
    stop: str,
    heard: Sequence[Turn],
    tools: Tools = (),
) -> tuple[list[int], bool]:
    """Return what comes after a reply, and whether it is a suffix (else it is a prompt of its own).

    ``told`` are all messages before the reply, ``heard`` those that answer it.
    """
    if not chat.separate:
        return chat.follow(heard, stop), True
    reply = Spoken("assistant", chat.decode(said_ids))
    return chat.start([*told, reply, *heard], tools), False


class Chat:
    """One tokenizer's chat template, examined.

    Raises ``BadInput`` with the reason when there is no template, no end-of-turn token, or when what
    the template does to earlier turns is neither of the two manners of ``solver.templates``.
    ``thinking`` turns reasoning on or off where the template has a switch (``enable_thinking``).
    """

    text_only = False

    def __init__(
        self, tokenizer: Any, stop_ids: Sequence[int] = (), thinking: Thinking = "default"
    ) -> None:
        self.tokenizer = tokenizer
        if not tokenizer.chat_template:
            raise BadInput(
                "the model's tokenizer has no chat template; use a chat model or add one"
            )
        self._switch = {} if thinking == "default" else {"enable_thinking": thinking == "on"}
        source = tokenizer.get_chat_template(tools=[dict(TOOL)])
        added = tokenizer.added_tokens_decoder
        special = {token.content for token in added.values() if token.special}
        special |= set(tokenizer.all_special_tokens)
        structural = {token.content for token in added.values() if token.content in source}
        self._silent = {id for id, token in added.items() if token.content in special - SPOKEN}
        # Our own words and the model's may use the marks of reasoning and tool calls, nobody else's.
        self._breaks = {
            "system": _any_of(special - SPOKEN),
            "assistant": _any_of(special - SPOKEN),
            "other": _any_of(special | structural),
        }
        self.manner = examine(self._render, source)
        close = self._encode(self.manner.close)
        if not close or close[0] not in self._silent:
            raise BadInput(
                f"the chat template closes an assistant turn with {self.manner.close!r}, which does "
                "not begin with a special token; a reply could not be told to end"
            )
        self._check_joint()
        self.close_id: int = close[0]
        known = [self.close_id, *stop_ids]
        if tokenizer.eos_token_id is not None:
            known.append(tokenizer.eos_token_id)
        self.stop_ids: frozenset[int] = frozenset(known)
        self._suffixes: dict[tuple[tuple[str, str], ...], tuple[int, ...]] = {}

    @classmethod
    def open(cls, folder: Path, thinking: Thinking = "default") -> "Chat":
        """Examine the template of a model folder; its weights are not read.

        Raises ``BadInput`` for what :class:`Chat` refuses, for a template that takes without bound, and
        for files that cannot be read.
        """
        tokenizer = read_tokenizer(folder)
        check_bounded(tokenizer)
        return cls(tokenizer, stop_ids(folder), thinking)

    @property
    def separate(self) -> str:
        """Why every turn is a sequence of its own; empty: conversations are appended to."""
        return self.manner.separate

    @property
    def opened(self) -> bool:
        """Whether prompts begin the reply's reasoning."""
        return self.manner.opened

    @property
    def dialect(self) -> Dialect:
        """How the model writes tool calls."""
        return self.manner.dialect

    def summary(self) -> dict[str, str]:
        """Say in words what was found out about the template."""
        manner = self.manner
        forms: dict[Dialect, str] = {
            "hermes": "JSON in <tool_call>",
            "xml": "XML in <tool_call>",
            "llama3": "JSON alone",
        }
        told = "the template shows the tools" if manner.shows_tools else "told in a system message"
        ends = self.tokenizer.convert_ids_to_tokens(sorted(self.stop_ids))
        return {
            "conversations": f"every turn a sequence of its own: the template {manner.separate}"
            if manner.separate
            else "one sequence that is appended to",
            "reasoning": "begun by the prompt" if manner.opened else "part of the reply, if any",
            "tool calls": manner.no_tools or f"{forms[self.dialect]}, {told}",
            "a reply ends with": " or ".join(map(str, ends)),
        }

    def start(self, messages: Sequence[Turn], tools: Tools = ()) -> list[int]:
        """Return the ids of a conversation, ending where the assistant is to speak.

        Raises ``UnreadableTools`` when the template fails on these tools and not on plain ones, and
        ``BadInput`` when it cannot be used with tools at all.
        """
        plain = [self._plain(message) for message in messages]
        shown = self._broken_up(tools, "other")
        if tools and not self.manner.shows_tools:
            if plain[0]["role"] != "system":
                plain.insert(0, {"role": "system", "content": ""})
            words = f"{plain[0]['content']}\n\n{describe(shown)}".lstrip()
            plain[0], shown = {"role": "system", "content": words}, ()
        elif tools and self.manner.no_tools:
            raise BadInput(self.manner.no_tools)
        if len(plain) > 1 and plain[0]["role"] == "system" and not self.manner.takes_system:
            words = plain.pop(0)["content"]
            plain[0] = {**plain[0], "content": f"{words}\n\n{plain[0]['content']}"}
        try:
            text = self._render(plain, shown, True)
        except BadInput as error:
            if not shown:
                raise
            self._render(plain, [TOOL], True)
            raise UnreadableTools(str(error)) from None
        return self._encode(text)

    def follow(self, messages: Sequence[Turn], stop: str = "end") -> list[int]:
        """Return the ids from the end of a sampled reply to where the assistant is to speak again.

        ``stop`` is the reply's: after "end" the sampled ids already hold the end-of-turn id, after
        "length" the suffix begins with it. Not for templates whose turns are separate.
        """
        assert not self.separate
        key = tuple((message.role, message.content) for message in messages)
        suffix = self._suffixes.get(key)
        if suffix is None:
            head = [{"role": "user", "content": PROBE}, {"role": "assistant", "content": REPLY}]
            whole = self._render([*head, *map(self._plain, messages)], (), True)
            suffix = tuple(self._encode(whole[whole.index(REPLY) + len(REPLY) :]))
            if len(suffix) <= 512:
                if len(self._suffixes) >= 4096:
                    self._suffixes.clear()
                self._suffixes[key] = suffix
        return list(suffix if stop == "length" else suffix[1:])

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of sampled ids without special tokens.

        The marks of reasoning and tool calls stay, special or not.
        """
        text = self.tokenizer.decode(
            [token for token in ids if token not in self._silent],
            skip_special_tokens=False,
            clean_up_tokenization_spaces=False,
        )
        return str(text)

    def _plain(self, message: Turn) -> dict[str, str]:
        """A message as the template wants it."""
        role, content = message.role, self._broken_up(message.content, message.role)
        if role == "assistant":
            return assistant(f"{OPEN}\n{content}" if self.opened else content, self.manner.apart)
        return {"role": role, "content": content}

    def _broken_up(self, value: Any, role: str) -> Any:
        """Break up the special tokens written out in every text of a JSON value, keys included.

        Otherwise an environment could close its own turn and speak as the assistant.
        """
        if isinstance(value, str):
            pattern = self._breaks.get(role, self._breaks["other"])
            return pattern.sub(lambda m: f"{m[0][0]} {m[0][1:]}", value)
        if isinstance(value, Mapping):
            return {
                self._broken_up(key, role): self._broken_up(item, role)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._broken_up(item, role) for item in value]
        return value

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return ids

    def _render(self, messages: Sequence[Mapping[str, str]], tools: Tools, open_reply: bool) -> str:
        given = [dict(tool) for tool in tools] or None
        try:
            source = self.tokenizer.get_chat_template(tools=given)
            text = self.tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                tools=given,
                chat_template=TODAY + source if "strftime_now" in source else source,
                add_generation_prompt=open_reply,
                tokenize=False,
                **self._switch,
            )
        except Exception as error:  # a template is a program: whatever it raises, it refused
            raise BadInput(f"the chat template cannot render this conversation: {error}") from None
        return str(text)

    def _check_joint(self) -> None:
        """Refuse a tokenizer that joins the end of a prompt with the reply that follows."""
        prompt = self._render([{"role": "user", "content": PROBE}], (), True)
        pieces = self._encode(prompt)
        if self._encode(prompt + REPLY)[: len(pieces)] != pieces:
            raise BadInput(
                "the tokenizer joins the assistant's header with the reply that follows; "
                "appending sampled ids would not be what the template means"
            )


def _any_of(tokens: set[str]) -> re.Pattern[str]:
    longest_first = sorted((token for token in tokens if token.strip()), key=lambda t: (-len(t), t))
    return re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
