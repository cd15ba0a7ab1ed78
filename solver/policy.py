"""What a policy is to everything that plays or designs: token ids in, sampled ids out."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from solver.chat import Conversations
from spadekit.errors import BadInput

Stop = Literal["end", "length"]


class SamplingConfig(Protocol):
    """The settings of a role's sampling, as its section of the recipe has them."""

    @property
    def temperature(self) -> float: ...
    @property
    def top_p(self) -> float: ...
    @property
    def top_k(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...


@dataclass(frozen=True)
class Sampling:
    """How to sample one completion. ``temperature`` 0 is greedy; ``seed`` fixes the local engine's
    sample. ``top_k`` (0: all) and then ``top_p`` (1: all) leave the likeliest tokens to draw from, at
    that temperature."""

    temperature: float
    max_tokens: int
    seed: int
    top_p: float = 1.0
    top_k: int = 0

    def __post_init__(self) -> None:
        sound = self.temperature >= 0 and 0 < self.top_p <= 1 and self.top_k >= 0
        if not sound or self.max_tokens < 1:
            raise ValueError(f"cannot sample with {self}")

    @classmethod
    def of(cls, config: SamplingConfig, seed: int) -> "Sampling":
        """Return what a role's settings say."""
        return cls(config.temperature, config.max_tokens, seed, config.top_p, config.top_k)


@dataclass(frozen=True)
class Completion:
    """One sampled reply.

    ``ids`` include the end-of-turn id when ``stop`` is "end". ``logprobs`` (nats, same length) are
    of the distribution the ids were drawn from: at the sampling temperature, at 1 for greedy, over
    the tokens that ``top_k`` and ``top_p`` leave; an engine that is text only has none. ``version``
    is the policy version whose weights were used.
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


@dataclass(frozen=True)
class Bill:
    """Tokens that an endpoint says it read and sampled, and their cost where prices are set."""

    read: int = 0
    sampled: int = 0
    cost: float | None = None

    def __add__(self, other: "Bill") -> "Bill":
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Bill(
            self.read + other.read, self.sampled + other.sampled, sum(costs) if costs else None
        )

    def since(self, before: "Bill") -> "Bill":
        """Return what came on top of an earlier bill of the same endpoint."""
        cost = None if self.cost is None else self.cost - (before.cost or 0.0)
        return Bill(self.read - before.read, self.sampled - before.sampled, cost)


@runtime_checkable
class Billed(Protocol):
    """A policy behind an endpoint that counts its tokens."""

    def bill(self) -> Bill:
        """Return what the endpoint has counted since the engine was opened."""


def require_tokens(policy: Policy, *sampled: SamplingConfig) -> None:
    """Raise ``BadInput`` for a policy that cannot be trained on what it says.

    ``sampled``: how the roles sample. Where only the likeliest tokens are drawn from, the
    log-probabilities are of another distribution than the one that the trainer moves.
    """
    if policy.chat.text_only:
        raise BadInput(
            "this engine gives text without token ids and log-probabilities, which training needs; "
            "set policy.engine to local or vllm"
        )
    require_whole(*sampled)


def is_whole(config: SamplingConfig) -> bool:
    """Whether every token can be drawn: what is taken away (greed takes all) has no log-probability."""
    return config.top_p == 1 and not config.top_k and config.temperature > 0


def require_whole(*sampled: SamplingConfig) -> None:
    """Raise ``BadInput`` where samples to train on would be drawn from the likeliest tokens only."""
    for config in sampled:
        if config.temperature == 0:  # the solver's: a designer's is refused with its section
            raise BadInput(
                "solver.temperature = 0: greedy plays of an instance are all alike and teach nothing; "
                "set it above 0"
            )
        if not is_whole(config):
            raise BadInput(
                f"top_p = {config.top_p:g} and top_k = {config.top_k}: training needs samples of the "
                "whole distribution; set them to 1 and 0 in [solver] and [designer]"
            )


@runtime_checkable
class Gathering(Protocol):
    """A policy that fills its batches better when told how many callers will ask again soon."""

    def client(self) -> AbstractContextManager[None]:
        """Count one more caller while the block runs."""
