"""The environment contract as plain records and pure functions; nothing here touches a process."""

import json
import math
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, Self

from sandbox.faults import EnvironmentFault

Setting = Literal["game", "tool_use"]
ROLES: Final = ("user", "tool", "assistant", "system")
_BOX: Final = "\\boxed{"


@dataclass(frozen=True)
class Message:
    """One message of a conversation; ``role`` is one of ``ROLES``."""

    role: str
    content: str


Observation = tuple[Message, ...]


@dataclass(frozen=True)
class Step:
    """What one action led to. ``reward`` is finite."""

    observation: Observation
    reward: float
    terminated: bool
    truncated: bool


@dataclass(frozen=True)
class JailInfo:
    """What the source says about itself, read once when it is loaded.

    ``tools`` are function schemas in the OpenAI form (empty for a game); ``max_turns`` is the
    environment's own wish, None when it has none; the host is the authority on turn caps.
    """

    class_name: str
    title: str
    description: str
    setting: Setting
    tools: tuple[dict[str, Any], ...]
    has_solution: bool
    max_turns: int | None


class Playing(Protocol):
    """An open episode, wherever its jail is. Its calls raise ``EnvironmentFault`` and ``SandboxFault``."""

    @property
    def observation(self) -> Observation:
        """What stood there after reset."""

    async def step(self, action: str) -> Step:
        """Play one action."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None: ...


class Playable(Protocol):
    """A loaded source, wherever its jail is."""

    @property
    def info(self) -> JailInfo:
        """What the source says about itself."""

    @property
    def longest_action(self) -> int:
        """See :class:`sandbox.Limits`."""

    async def episode(self, seed: int) -> Playing:
        """Open an episode and reset it; raises ``EnvironmentFault`` and ``SandboxFault``."""


def game_action(reply: str) -> str:
    """Return what a game's ``step`` receives for a reply.

    That is the last ``\\boxed{...}`` with balanced braces, box included, else the stripped reply.
    One pass, so that a reply of nothing but opening boxes costs no more than any other.
    """
    best: tuple[int, int] | None = None
    opened: list[int] = []
    for index, char in enumerate(reply):
        if char == "{":
            opened.append(index)
        elif char == "}" and opened:
            start = opened.pop() + 1 - len(_BOX)
            if start >= 0 and reply.startswith(_BOX, start) and (best is None or start > best[0]):
                best = (start, index + 1)
    return reply[best[0] : best[1]] if best else reply.strip()


def action_bytes(action: str) -> int:
    """Return the bytes that an action takes in a frame, which is JSON in ASCII."""
    return len(json.dumps(action))


def episode_return(reward: float, terminated: bool) -> float:
    """Return an episode's return in [0, 1] from its last step: the reward if it terminated, else 0.

    Raises ``EnvironmentFault`` (contract) for a reward that is not finite: never a win.
    """
    if not math.isfinite(reward):
        raise EnvironmentFault("step", "contract", f"the reward {reward} is not a finite number")
    return min(1.0, max(0.0, reward)) if terminated else 0.0
