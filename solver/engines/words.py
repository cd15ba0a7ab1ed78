"""Conversations with a model behind a text interface, kept in the form that all others have.

Its token ids are nobody's tokens: up to four bytes of UTF-8 make one id, which is about what a token
is, so limits in tokens keep their meaning; below zero are the marks that open a message and close a
reply. A buffer stays append-only and holds the whole conversation, so :meth:`Words.messages` gets it
back from the ids alone.
"""

from collections.abc import Sequence

from solver.chat import Turn
from solver.templates import Tools
from solver.toolcalls import Dialect, describe

ROLES = ("system", "user", "assistant", "tool")
END = -1
_OPEN = {role: -2 - number for number, role in enumerate(ROLES)}
_ROLE = {mark: role for role, mark in _OPEN.items()}
BYTES = 4


class Words:
    """Messages as ids and back; the counterpart of :class:`solver.chat.Chat` for text."""

    text_only = True
    separate = ""
    opened = False
    dialect: Dialect = "hermes"

    def start(self, messages: Sequence[Turn], tools: Tools = ()) -> list[int]:
        """Return the ids of the opening messages; tools are described in a system message."""
        ids: list[int] = []
        if tools:
            ids += [_OPEN["system"], *encode(describe(tools)), END]
        for message in messages:
            ids += [_OPEN[message.role], *encode(message.content), END]
        return [*ids, _OPEN["assistant"]]

    def follow(self, messages: Sequence[Turn], stop: str = "end") -> list[int]:
        """Return the ids from the end of a reply to where the assistant is to speak again."""
        return [*([END] if stop == "length" else []), *self.start(messages)]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of a reply's ids."""
        data = b"".join(_bytes(number) for number in ids if number >= 0)
        return data.decode("utf-8", errors="replace")

    def messages(self, ids: Sequence[int]) -> list[dict[str, str]]:
        """Return the conversation that the ids hold, up to the reply that is asked for.

        Neighbours of one role are joined, and what a tool said is the user's: endpoints refuse
        conversations that do not alternate, and tool messages without calls of their own form.
        """
        told: list[tuple[str, list[int]]] = []
        for number in ids:
            if number in _ROLE:
                told.append((_ROLE[number], []))
            elif number != END:
                told[-1][1].append(number)
        out: list[dict[str, str]] = []
        for role, body in told[:-1]:
            spoken = "user" if role == "tool" else role
            if out and out[-1]["role"] == spoken:
                out[-1]["content"] += "\n\n" + self.decode(body)
            else:
                out.append({"role": spoken, "content": self.decode(body)})
        return out


def encode(text: str) -> list[int]:
    """Return ids for a text: four bytes each, the last as many as are left."""
    data = text.encode("utf-8", errors="replace")
    return [_number(data[at : at + BYTES]) for at in range(0, len(data), BYTES)]


def _number(piece: bytes) -> int:
    # A leading 1 keeps zero bytes at the front.
    return int.from_bytes(b"\x01" + piece, "big")


def _bytes(number: int) -> bytes:
    return number.to_bytes(BYTES + 1, "big").lstrip(b"\x00")[1:]
