"""Playing an environment through the same door as the policy, and the trace of what happened."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sandbox import EnvironmentFault, Episode, Jail, Message, Observation, episode_return
from spadekit.tasks import together

Player = Callable[[Sequence[Observation]], str | None]
"""Given all observations so far, return the next action, or ``None`` to stop."""


@dataclass(frozen=True)
class Turn:
    """One action and what it led to; ``seconds`` is the wall time until its answer was here."""

    action: str
    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    seconds: float = field(default=0.0, compare=False)

    @property
    def ended(self) -> bool:
        """Whether the environment said that the episode is over."""
        return self.terminated or self.truncated


@dataclass(frozen=True)
class Trace:
    """One play: ``first`` is the observation after reset; ``fault`` ended it, if set.

    ``memory``: most resident bytes of a process of the jail by then; 0 if not looked at or unknown.
    """

    seed: int
    first: Observation
    turns: tuple[Turn, ...]
    fault: EnvironmentFault | None = None
    last_action: str = ""
    memory: int = field(default=0, compare=False)

    @property
    def ended(self) -> bool:
        """Whether the environment ended the episode by itself."""
        return bool(self.turns) and self.turns[-1].ended

    @property
    def reward(self) -> float:
        """The episode's return in [0, 1]; 0 for a faulted or unfinished play."""
        if not self.turns or self.fault is not None:
            return 0.0
        return episode_return(self.turns[-1].reward, self.turns[-1].terminated)


@dataclass(frozen=True)
class Instance:
    """What one seed gives: the first observation and the reference solution, or its fault."""

    seed: int
    first: Observation
    solution: tuple[str, ...] | None
    fault: EnvironmentFault | None = None


def said(observation: Sequence[Message]) -> str:
    """Return an observation as one text."""
    return "\n".join(message.content for message in observation)


def script(actions: Sequence[str]) -> Callable[[], Player]:
    """Return a maker of players that play exactly these actions."""
    return lambda: lambda seen: actions[len(seen) - 1] if len(seen) <= len(actions) else None


async def play(jail: Jail, game: "Game") -> Trace:
    """Play one episode. ``SandboxFault`` propagates."""
    try:
        episode = await jail.episode(game.seed)
    except EnvironmentFault as fault:
        return Trace(game.seed, (), (), fault)
    async with episode:
        trace = await _turns(episode, game.seed, game.player(), game.cap)
        return replace(trace, memory=jail.peak_memory()) if game.weighed else trace


async def instance(
    jail: Jail, seed: int, solve: bool = True, tail: Sequence[str] = ()
) -> tuple[Instance, Trace]:
    """Open an episode, ask for its solution, then play ``tail`` in it.

    The solution is only asked for here and played elsewhere, so that it cannot prepare its own win.
    The trace of ``tail`` saves an episode where only a fault is looked for; as ``solution()`` may
    have left the instance in disorder, a fault counts only when a fresh episode has it too.
    """
    try:
        episode = await jail.episode(seed)
    except EnvironmentFault as fault:
        return Instance(seed, (), None, fault), Trace(seed, (), ())
    first, solution = episode.observation, None
    async with episode:
        if jail.info.has_solution and solve:
            try:
                solution = tuple(await episode.solution())
            except EnvironmentFault as fault:
                return Instance(seed, first, None, fault), Trace(seed, first, ())
        trace = await _turns(episode, seed, script(tail)(), len(tail))
    if trace.fault is not None:
        trace = await play(jail, Game(seed, script(tail), len(tail)))
    return Instance(seed, first, solution), trace


async def _turns(episode: Episode, seed: int, player: Player, cap: int) -> Trace:
    turns: list[Turn] = []
    first = episode.observation
    seen = [first]
    action = ""
    try:
        for _ in range(cap):
            wanted = player(seen)
            if wanted is None:
                break
            action = wanted
            began = time.monotonic()
            step = await episode.step(action)
            took = time.monotonic() - began
            turns.append(
                Turn(action, step.observation, step.reward, step.terminated, step.truncated, took)
            )
            seen.append(step.observation)
            if step.terminated or step.truncated:
                break
    except EnvironmentFault as fault:
        return Trace(seed, first, tuple(turns), fault, action)
    return Trace(seed, first, tuple(turns), None, action)


@dataclass(frozen=True)
class Game:
    """One play of at most ``cap`` turns to be made; ``weighed``: look at its memory at the end."""

    seed: int
    player: Callable[[], Player]
    cap: int
    weighed: bool = False


class Table:
    """Plays many games in one jail, a few at once; a timeout counts only when it happens alone too.

    A slow but sound environment must not run into its time limit because we play it eight-fold.
    """

    def __init__(self, jail: Jail, parallel: int) -> None:
        self.jail = jail
        self._places = asyncio.Semaphore(parallel)

    async def play(self, games: Sequence[Game]) -> list[Trace]:
        """Play all games and return their traces in order."""
        traces = await together(self._one(game) for game in games)
        for index, trace in enumerate(traces):
            if trace.fault is not None and trace.fault.reason == "timeout":
                traces[index] = await play(self.jail, games[index])
                if traces[index].fault is not None:
                    break
        return traces

    async def instances(
        self, seeds: Sequence[int], solve: bool = True, tails: Sequence[Sequence[str]] = ()
    ) -> tuple[list[Instance], list[Trace]]:
        """Reset every seed, ask for its solution, and play its tail, if there is one."""
        ends = [*tails, *[()] * (len(seeds) - len(tails))]
        found = await together(
            self._instance(seed, solve, end) for seed, end in zip(seeds, ends, strict=True)
        )
        for index, (one, _) in enumerate(found):
            if one.fault is not None and one.fault.reason == "timeout":
                found[index] = await instance(self.jail, one.seed, solve)
                if found[index][0].fault is not None:
                    break
        return [one for one, _ in found], [trace for _, trace in found]

    async def _one(self, game: Game) -> Trace:
        async with self._places:
            return await play(self.jail, game)

    async def _instance(
        self, seed: int, solve: bool, tail: Sequence[str]
    ) -> tuple[Instance, Trace]:
        async with self._places:
            return await instance(self.jail, seed, solve, tail)
