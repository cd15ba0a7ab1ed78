"""What a policy is to everything that plays or designs: token ids in, sampled ids out."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from solver.chat import Tools, Turn
from spadekit.errors import BadInput

Stop = Literal["end", "length"]


@dataclass(frozen=True)
class Sampling:
    """How to sample one completion. ``temperature`` 0 is greedy; ``seed`` fixes the local engine's
    sample."""

    temperature: float
    max_tokens: int
    seed: int

    def __post_init__(self) -> None:
        if not self.temperature >= 0 or self.max_tokens < 1:
            raise ValueError(f"cannot sample with {self}")


@dataclass(frozen=True)
class Completion:
    """One sampled reply.

    ``ids`` include the end-of-turn id when ``stop`` is "end". ``logprobs`` (nats, same length) are
    of the distribution the ids were drawn from: at the sampling temperature, at 1 for greedy; an
    engine that is text only has none. ``version`` is the policy version whose weights were used.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    stop: Stop
    version: int


class Conversations(Protocol):
    """How a policy's conversations are kept: see :class:`solver.chat.Chat`."""

    @property
    def text_only(self) -> bool:
        """Whether the ids merely carry text: nothing to store as tokens, nothing to train on."""

    def start(self, messages: Sequence[Turn], tools: Tools = ()) -> list[int]:
        """Return the ids of the opening messages, ending where the assistant is to speak."""

    def follow(self, messages: Sequence[Turn], stop: str = "end") -> list[int]:
        """Return the ids from the end of a sampled reply to where the assistant speaks again."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of sampled ids without special tokens."""


class Policy(Protocol):
    """A model that completes token sequences."""

    @property
    def version(self) -> int:
        """The policy version now serving."""

    @property
    def chat(self) -> Conversations:
        """The conversation format of the model."""

    @property
    def context(self) -> int:
        """Most tokens that a prompt and its completion may have together."""

    @property
    def forward_seconds(self) -> float:
        """Seconds spent in forward passes and sampling so far; behind a URL: waiting for them."""

    async def complete(self, prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        """Sample one completion of ``prompt_ids``."""

    async def load(self, version_dir: Path) -> None:
        """Switch to the weights in ``version_dir``; what is being sampled finishes on the old."""


def require_tokens(policy: Policy) -> None:
    """Raise ``BadInput`` for a policy that cannot be trained on what it says."""
    if policy.chat.text_only:
        raise BadInput(
            "this engine gives text without token ids and log-probabilities, which training needs; "
            "set policy.engine to local or vllm"
        )


@runtime_checkable
class Gathering(Protocol):
    """A policy that fills its batches better when told how many callers will ask again soon."""

    def client(self) -> AbstractContextManager[None]:
        """Count one more caller while the block runs."""
