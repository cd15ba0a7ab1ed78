"""What a policy is to everything that plays or designs: token ids in, sampled ids out."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from solver.chat import Chat

Stop = Literal["end", "length"]


@dataclass(frozen=True)
class Sampling:
    """How to sample one completion. ``temperature`` 0 is greedy; ``seed`` fixes the sample."""

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
    of the distribution the ids were drawn from: at the sampling temperature, at 1 for greedy.
    ``version`` is the policy version whose weights were used.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    stop: Stop
    version: int


class Policy(Protocol):
    """A model that completes token sequences."""

    @property
    def version(self) -> int:
        """The policy version now serving."""

    @property
    def chat(self) -> Chat:
        """The conversation format of the model."""

    @property
    def context(self) -> int:
        """Most tokens that a prompt and its completion may have together."""

    @property
    def forward_seconds(self) -> float:
        """Seconds spent in forward passes and sampling so far."""

    async def complete(self, prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        """Sample one completion of ``prompt_ids``."""

    async def load(self, version_dir: Path) -> None:
        """Switch to the weights in ``version_dir``; what is being sampled finishes on the old."""

    def close(self) -> None:
        """Stop serving; waits for the batch in progress."""


@runtime_checkable
class Gathering(Protocol):
    """A policy that fills its batches better when told how many callers will ask again soon."""

    def client(self) -> AbstractContextManager[None]:
        """Count one more caller while the block runs."""
