"""The token sequences in a play: one that was appended to, or one per turn.

Where a chat template drops the reasoning of earlier turns (``solver.templates``), each reply was
sampled from a prompt of its own, and what is trained has to be just that: prompt and reply. The play
then holds its sequences one after another, each ending with its reply.

They share the episode's reward, and the episode counts once however many turns it had: ``share`` is
one over its sequences, and whatever counts episodes (a group's mean, a constant-length divisor) sums
shares. A sampled token weighs the same either way.
"""

import json
from dataclasses import dataclass

from memory import PlayRecord

OWN = "own"


@dataclass(frozen=True)
class TokenSequence:
    """What was trained on in one piece. The mask is 1 on sampled ids; ``cut``: a reply in it was."""

    ids: tuple[int, ...]
    mask: tuple[int, ...]
    logprobs: tuple[float, ...]
    share: float
    cut: bool


def sequences(play: PlayRecord) -> list[TokenSequence]:
    """Return the sequences of a play in order; none when nothing was sampled."""
    replies = [one for one in json.loads(play.transcript) if one["role"] == "assistant"]
    if not any(play.mask):
        return []
    if not any(one.get("prompt") == OWN for one in replies):
        cut = any(one.get("stop") == "length" for one in replies)
        return [TokenSequence(play.ids, play.mask, play.logprobs, 1.0, cut)]
    ends = [
        place + 1
        for place, sampled in enumerate(play.mask)
        if sampled and not (place + 1 < len(play.mask) and play.mask[place + 1])
    ]
    begins = [0, *ends[:-1]]
    return [
        TokenSequence(
            play.ids[begin:end],
            play.mask[begin:end],
            play.logprobs[begin:end],
            1 / len(ends),
            reply.get("stop") == "length",
        )
        for begin, end, reply in zip(begins, ends, replies, strict=True)
    ]
