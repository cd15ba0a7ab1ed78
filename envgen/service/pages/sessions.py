"""Plays by people: each an episode in a jail of its own, bounded in number, turns and time.

A session lives in memory alone and is forgotten with its process. Nothing of it is stored: what a person
did says nothing about a policy version.
"""

import asyncio
import contextlib
import json
import secrets
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from envgen.certificate.offers import offers
from sandbox import (
    EnvironmentFault,
    Episode,
    JailInfo,
    Observation,
    Sandbox,
    SandboxConfig,
    action_bytes,
    episode_return,
    game_action,
)
from spadekit.errors import BadInput

MOST = 8
"""Plays open at once."""
IDLE_S = 600.0
"""A play in which nobody acts for so long is ended."""
LIFE_S = 3600.0
"""How long one play may last at all."""
MAY_GO_S = 60.0
"""A play that nobody has touched for so long makes room for a new one."""
KEPT = 32
"""Plays that have ended and can still be looked at."""
MOST_TURNS = 200
MOST_OFFERED = 24
SWEEP_S = 15.0


class Full(Exception):
    """There is no room for another play."""


@dataclass(frozen=True)
class Said:
    """One message of a play. ``role`` ``assistant`` is the person, ``tool`` and ``user`` the other side."""

    role: str
    content: str


@dataclass
class Session:
    """One play. ``result`` None: not over; ``ended`` says why it is over, "" while it goes on."""

    id: str
    environment: str
    title: str
    seed: int
    hint: str
    info: JailInfo
    began: float
    touched: float
    said: list[Said] = field(default_factory=list)
    turns: int = 0
    reward: float = 0.0
    result: float | None = None
    ended: Literal["", "won", "over", "left", "idle", "fault"] = ""
    fault: str = ""
    resources: AsyncExitStack = field(default_factory=AsyncExitStack, repr=False)
    episode: Episode | None = field(default=None, repr=False)
    acting: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @property
    def most_turns(self) -> int:
        """Actions that a play may have."""
        return min(self.info.max_turns or MOST_TURNS, MOST_TURNS)

    @property
    def offered(self) -> tuple[str, ...]:
        """Actions that the newest message of a game offers to whoever only reads."""
        heard = [one.content for one in self.said if one.role != "assistant"]
        if self.ended or self.info.setting != "game" or not heard:
            return ()
        # Most games name the actions once, at the start.
        return (offers(heard[-1]) or offers(heard[0]))[:MOST_OFFERED]


class Sessions:
    """The plays of one service; all methods belong to one event loop."""

    def __init__(self, config: SandboxConfig, clock: Callable[[], float] = time.monotonic) -> None:
        longest = max(LIFE_S, config.episode_s)
        self._config = replace(config, episode_s=longest, spare_jails=0)
        self._clock = clock
        self._known: dict[str, Session] = {}
        self._sandbox: Sandbox | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self._starting = 0

    @property
    def open(self) -> list[Session]:
        """Plays that go on, the one untouched for longest first."""
        going = (one for one in self._known.values() if not one.ended)
        return sorted(going, key=lambda one: one.touched)

    def get(self, name: str) -> Session | None:
        """Return a play that goes on or has ended not long ago."""
        return self._known.get(name)

    async def start(
        self, environment: str, title: str, source: str, hint: str, seed: int
    ) -> Session:
        """Open a play. Raises ``Full``, and ``EnvironmentFault`` for one that does not begin."""
        await self.sweep()
        await self._make_room()
        self._starting += 1
        resources = AsyncExitStack()
        try:
            if self._sandbox is None:
                self._sandbox = Sandbox(self._config)
                self._sweeper = asyncio.create_task(self._sweep_on())
            jail = await self._sandbox.open(source)
            resources.push_async_callback(jail.close)
            episode = await jail.episode(seed)
            resources.push_async_callback(episode.close)
        except BaseException:
            await resources.aclose()
            raise
        finally:
            self._starting -= 1
        now = self._clock()
        session = Session(
            id=secrets.token_hex(16),
            environment=environment,
            title=title,
            seed=seed,
            hint=hint,
            info=jail.info,
            began=now,
            touched=now,
            resources=resources,
            episode=episode,
        )
        _hear(session, episode.observation)
        self._known[session.id] = session
        self._forget()
        return session

    async def act(self, session: Session, action: str, shown: str) -> None:
        """Play one action; ``shown`` is how it stands in the transcript. A fault ends the play."""
        if (size := action_bytes(action)) > (most := self._config.limits.longest_action):
            raise BadInput(f"an action has at most {most} bytes; this one has {size}")
        async with session.acting:
            if session.ended or session.episode is None:
                raise BadInput("this play is over")
            session.touched = self._clock()
            session.said.append(Said("assistant", shown))
            session.turns += 1
            try:
                step = await session.episode.step(action)
                _hear(session, step.observation)
                session.reward = step.reward
                if step.terminated or step.truncated:
                    session.result = episode_return(step.reward, step.terminated)
                elif session.turns >= session.most_turns:
                    session.result = 0.0
            except EnvironmentFault as fault:
                session.fault = str(fault)
                await self._end(session, "fault")
                return
            if session.result is not None:
                await self._end(session, "won" if session.result > 0 else "over")

    async def leave(self, session: Session) -> None:
        """End a play before its end."""
        async with session.acting:
            if not session.ended:
                await self._end(session, "left")

    async def sweep(self) -> None:
        """End the plays that nobody acts in or that last too long."""
        now = self._clock()
        for one in self.open:
            idle = now - one.touched > IDLE_S or now - one.began > LIFE_S
            if idle and not one.acting.locked():
                await self._end(one, "idle")

    async def close(self) -> None:
        """End every play and the sandbox."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeper
        for one in self.open:
            await self._end(one, "left")
        if self._sandbox is not None:
            await self._sandbox.close()
            self._sandbox = None

    def left_s(self, session: Session) -> float:
        """Return the seconds after which a play is ended if nobody acts."""
        now = self._clock()
        return max(0.0, min(session.touched + IDLE_S, session.began + LIFE_S) - now)

    async def _make_room(self) -> None:
        open_now = self.open
        if len(open_now) + self._starting < MOST:
            return
        oldest = open_now[0] if open_now else None
        if oldest is None or self._clock() - oldest.touched < MAY_GO_S:
            raise Full(
                f"{MOST} plays are open, which is the most; end one or try again in a minute"
            )
        await self._end(oldest, "idle")

    async def _end(
        self, session: Session, why: Literal["won", "over", "left", "idle", "fault"]
    ) -> None:
        session.ended = why
        session.episode = None
        await session.resources.aclose()

    def _forget(self) -> None:
        over = [one.id for one in self._known.values() if one.ended]
        for name in over[:-KEPT]:
            del self._known[name]

    async def _sweep_on(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            await self.sweep()


def action_of(info: JailInfo, text: str) -> tuple[str, str]:
    """Return (action, how it is shown) for a typed text: a game's action, or words to the user.

    A game's action is boxed if it is not yet: that is how the policy's reach the game, too.
    """
    if info.setting == "game":
        action = game_action(text)
        boxed = action if action.startswith("\\boxed{") else f"\\boxed{{{action}}}"
        return boxed, text.strip()
    said = text.strip()
    return json.dumps({"content": said, "tool_calls": []}), said


def call_of(info: JailInfo, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
    """Return (action, how it is shown) for the call of a tool. Raises ``BadInput`` for an unknown one."""
    if name not in {tool["function"]["name"] for tool in info.tools}:
        raise BadInput(f"there is no tool {name[:60]!r} here")
    call = {"name": name, "arguments": arguments}
    shown = f"{name}({', '.join(f'{key}={json.dumps(value)}' for key, value in arguments.items())})"
    return json.dumps({"content": "", "tool_calls": [call]}), shown


def _hear(session: Session, observation: Observation) -> None:
    session.said += [Said(one.role, one.content) for one in observation]
