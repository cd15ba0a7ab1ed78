"""One environment as a ``gymnasium.Env``: text in, text out, every step inside the jail."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, ClassVar, Final, TypeVar

import gymnasium
from gymnasium import spaces

from sandbox.config import SandboxConfig
from sandbox.contract import Observation, Step, action_bytes
from sandbox.episode import Episode
from sandbox.jail import Jail
from sandbox.sandbox import Sandbox

T = TypeVar("T")

_SEEDS: Final = 2**31


class AnyText(spaces.Text):
    """All Unicode text up to a length; ``spaces.Text`` alone knows only a listed set of characters.

    Samples are short and plain, so that a random player has something to say.
    """

    def __init__(self, max_length: int, seed: int | None = None) -> None:
        super().__init__(max_length=max_length, min_length=0, seed=seed)

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a string that fits."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return up to twelve plain characters."""
        size = int(self.np_random.integers(0, min(self.max_length, 12) + 1))
        return "".join(self.np_random.choice(list(self.characters), size=size)) if size else ""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AnyText) or type(other) is not type(self):
            return False
        return self.max_length == other.max_length

    def __hash__(self) -> int:
        return hash((type(self), self.max_length))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.max_length})"


class AnyAction(AnyText):
    """All text that the sandbox takes as an action: of at most ``max_length`` bytes as JSON."""

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a string that fits."""
        return isinstance(x, str) and action_bytes(x) <= self.max_length


class SandboxedEnv(gymnasium.Env[str, str]):
    """Plays ``source`` in a jail of its own.

    An action is what ``Episode.step`` takes: a game's action, or a tool play's JSON. An observation
    is the text of the messages, one after another. The info of ``reset`` has the episode's ``seed`` and,
    for a tool environment, ``tools``, their function schemas. ``EnvironmentFault`` leaves ``reset`` and
    ``step`` as it is; an action outside the space is the caller's fault, ``InvalidAction``, and not
    played. ``close`` ends the jail.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 1}  # type: ignore[misc]

    def __init__(
        self, source: str, config: SandboxConfig | None = None, render_mode: str | None = None
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode = {render_mode!r} must be None or 'ansi'")
        self.render_mode = render_mode
        limits = (config or SandboxConfig()).limits
        # An observation is told in one frame, of which a character takes a byte at least.
        self.observation_space = AnyText(limits.frame_bytes)
        self.action_space = AnyAction(limits.longest_action)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._sandbox = Sandbox(config or SandboxConfig())
        self._episode: Episode | None = None
        self._shown = ""
        try:
            self._jail: Jail = self._run(self._sandbox.open(source))
        except BaseException:
            self.close()
            raise
        self.info = self._jail.info

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode; the same ``seed`` gives the same episode."""
        super().reset(seed=seed)
        # Without a seed the episode's is drawn, so that a seeded sequence of resets is repeatable.
        drawn = int(self.np_random.integers(_SEEDS)) if seed is None else seed
        self._end_episode()
        self._episode = self._run(self._jail.episode(drawn))
        told: dict[str, Any] = {"seed": drawn}
        if self.info.tools:
            told["tools"] = list(self.info.tools)
        return self._show(self._episode.observation), told

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one action."""
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if action not in self.action_space:
            raise gymnasium.error.InvalidAction(
                f"the action is not in {self.action_space}: no text, or more bytes as JSON than that"
            )
        step: Step = self._run(self._episode.step(action))
        text = self._show(step.observation)
        return text, step.reward, step.terminated, step.truncated, {}

    def render(self) -> str | None:
        """Return the last observation in mode "ansi"."""
        return self._shown if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the jail and everything that belongs to it. Safe to call twice."""
        if self._loop.is_closed():
            return
        self._run(self._sandbox.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _end_episode(self) -> None:
        if self._episode is not None:
            self._run(self._episode.close())
            self._episode = None

    def _show(self, observation: Observation) -> str:
        self._shown = "\n".join(message.content for message in observation)
        return self._shown

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
