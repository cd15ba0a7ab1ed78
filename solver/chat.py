"""Conversations as append-only token buffers: prompts and suffixes from a model's chat template.

A buffer starts with :meth:`Chat.start`, the sampled ids are appended as they are, and
:meth:`Chat.follow` gives the suffix that closes the turn and opens the next. Sampled text is never
rendered again: suffixes are cut out of conversations whose assistant turns are placeholders. That
is only sound when the template treats a conversation as its turns one after another, which is
checked once, at construction.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from spadekit.errors import BadInput

_REPLY = "\ue000reply\ue001"
_THOUGHT = "<think>\ue002thought\ue003</think>\n\n"
_PROBE = "\ue004probe\ue005"
_TOOL = {
    "type": "function",
    "function": {
        "name": "probe",
        "description": "Probe.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
}


class Turn(Protocol):
    """Anything with a role and a text; ``sandbox.Message`` is one."""

    @property
    def role(self) -> str:
        """system, user, assistant or tool."""

    @property
    def content(self) -> str:
        """The text."""


Tools = Sequence[Mapping[str, Any]]


class UnreadableTools(Exception):
    """The template renders tools, but not these: their schemas are to blame."""


class Chat:
    """One tokenizer's chat template, checked to be prefix-preserving.

    Raises ``BadInput`` with the reason when there is no template, no end-of-turn token, or when
    rendering a longer conversation does not begin with the shorter one.
    """

    text_only = False

    def __init__(self, tokenizer: Any, stop_ids: Sequence[int] = ()) -> None:
        self.tokenizer = tokenizer
        if not tokenizer.chat_template:
            raise BadInput(
                "the model's tokenizer has no chat template; use a chat model or add one"
            )
        self._special = re.compile("|".join(map(re.escape, tokenizer.all_special_tokens)) or "(?!)")
        self._close_id = self._check()
        known = [self._close_id, *stop_ids]
        if tokenizer.eos_token_id is not None:
            known.append(tokenizer.eos_token_id)
        self.stop_ids: frozenset[int] = frozenset(known)
        self._suffixes: dict[tuple[tuple[str, str], ...], tuple[int, ...]] = {}

    def start(self, messages: Sequence[Turn], tools: Tools = ()) -> list[int]:
        """Return the ids of the opening messages, ending where the assistant is to speak.

        Raises ``UnreadableTools`` when the template fails on these tools and not on plain ones.
        """
        plain = self._plain(messages)
        try:
            text = self._render(plain, self._broken_up(tools), open_reply=True)
        except BadInput as error:
            if not tools:
                raise
            self._render(plain, [_TOOL], open_reply=True)
            raise UnreadableTools(str(error)) from None
        return self._encode(text)

    def follow(self, messages: Sequence[Turn], stop: str = "end") -> list[int]:
        """Return the ids from the end of a sampled reply to where the assistant is to speak again.

        ``stop`` is the reply's: after "end" the sampled ids already hold the end-of-turn id, after
        "length" the suffix begins with it.
        """
        key = tuple((message.role, message.content) for message in messages)
        suffix = self._suffixes.get(key)
        if suffix is None:
            head = [{"role": "user", "content": _PROBE}, {"role": "assistant", "content": _REPLY}]
            whole = self._render([*head, *self._plain(messages)], (), open_reply=True)
            suffix = tuple(self._encode(whole[whole.index(_REPLY) + len(_REPLY) :]))
            if len(suffix) <= 512:
                if len(self._suffixes) >= 4096:
                    self._suffixes.clear()
                self._suffixes[key] = suffix
        return list(suffix if stop == "length" else suffix[1:])

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of sampled ids without special tokens."""
        text = self.tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return str(text)

    def _plain(self, messages: Sequence[Turn]) -> list[dict[str, str]]:
        """Messages as the template wants them."""
        return [
            {"role": message.role, "content": self._broken_up(message.content)}
            for message in messages
        ]

    def _broken_up(self, value: Any) -> Any:
        """Break up the special tokens written out in every text of a JSON value, keys included.

        Otherwise an environment could close its own turn and speak as the assistant.
        """
        if isinstance(value, str):
            return self._special.sub(lambda m: f"{m[0][0]} {m[0][1:]}", value)
        if isinstance(value, Mapping):
            return {self._broken_up(key): self._broken_up(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._broken_up(item) for item in value]
        return value

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return ids

    def _render(self, messages: Sequence[Mapping[str, str]], tools: Tools, open_reply: bool) -> str:
        try:
            text = self.tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                tools=[dict(tool) for tool in tools] or None,
                add_generation_prompt=open_reply,
                tokenize=False,
            )
        except Exception as error:  # a template is a program: whatever it raises, it refused
            raise BadInput(f"the chat template cannot render this conversation: {error}") from None
        return str(text)

    def _check(self) -> int:
        """Check the template on placeholder conversations; return the id that closes a reply."""
        close = ""
        for reply in (_REPLY, _THOUGHT + _REPLY):
            conversation = [{"role": "user", "content": _PROBE}]
            whole = self._render(conversation, (), open_reply=True)
            for number in range(3):
                conversation.append({"role": "assistant", "content": reply})
                finished = self._render(conversation, (), open_reply=False)
                if not finished.startswith(whole + reply):
                    raise BadInput(_refusal(whole, reply, finished))
                close = close or finished[len(whole + reply) :]
                conversation.append({"role": "user", "content": f"{_PROBE}{number}"})
                longer = self._render(conversation, (), open_reply=True)
                if not longer.startswith(whole + reply):
                    raise BadInput(_refusal(whole, reply, longer))
                whole = longer
        ids = self._encode(close)
        if not ids or ids[0] not in self.tokenizer.all_special_ids:
            raise BadInput(
                f"the chat template closes an assistant turn with {close!r}, which does not begin "
                "with a special token; a reply could not be told to end"
            )
        pieces = self._encode(whole[: whole.index(_REPLY)])
        if self._encode(whole)[: len(pieces)] != pieces:
            raise BadInput(
                "the tokenizer joins the assistant's header with the reply that follows; "
                "appending sampled ids would not be what the template means"
            )
        return ids[0]


def _refusal(before: str, reply: str, after: str) -> str:
    start = "the chat template is not prefix-preserving: "
    end = "; use a model whose template leaves past turns alone"
    if reply not in after and _REPLY in after:
        return f"{start}it strips the reasoning from assistant turns{end}"
    if after.startswith(before[: before.rfind(_PROBE)]) and reply in after:
        return f"{start}a past assistant turn opens differently from the generation prompt{end}"
    return f"{start}it rewrites earlier turns when the conversation goes on{end}"
