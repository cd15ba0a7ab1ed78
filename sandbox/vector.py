"""Many episodes of many environments, stepped together; a fault is one slot's result."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from sandbox.contract import Observation, Step
from sandbox.episode import Episode
from sandbox.faults import EnvironmentFault
from sandbox.jail import Jail

T = TypeVar("T")


class Vector:
    """Episodes side by side. Made by ``Pool.vector``, which also ends them.

    ``observations`` are those after reset, one for each play: an observation, or the fault with
    which that episode did not begin.
    """

    observations: tuple[Observation | EnvironmentFault, ...] = ()

    def __init__(self) -> None:
        self._episodes: list[Episode | EnvironmentFault] = []

    def __len__(self) -> int:
        return len(self._episodes)

    async def step(self, actions: Sequence[str | None]) -> list[Step | EnvironmentFault | None]:
        """Play one action in each episode at once; ``None`` leaves an episode as it is.

        A slot whose episode has faulted gives that fault again. Raises ``ValueError`` for another
        number of actions than of episodes and ``RuntimeError`` for an action after an episode's end.
        """
        if len(actions) != len(self._episodes):
            raise ValueError(f"{len(actions)} actions for {len(self._episodes)} episodes")
        return list(
            await asyncio.gather(
                *(_one(e, a) for e, a in zip(self._episodes, actions, strict=True))
            )
        )

    async def begin(self, plays: Sequence[tuple[Jail | EnvironmentFault, int]]) -> None:
        """For the pool: open an episode for each jail and seed."""
        self._episodes = list(await asyncio.gather(*(_opened(jail, seed) for jail, seed in plays)))
        self.observations = tuple(
            one if isinstance(one, EnvironmentFault) else one.observation for one in self._episodes
        )

    async def close(self) -> None:
        """End every episode."""
        for one in self._episodes:
            if isinstance(one, Episode):
                await one.close()


async def settled(work: Coroutine[Any, Any, T]) -> T | EnvironmentFault:
    """Return what ``work`` returns, or the environment's fault."""
    try:
        return await work
    except EnvironmentFault as fault:
        return fault


async def _opened(jail: Jail | EnvironmentFault, seed: int) -> Episode | EnvironmentFault:
    return jail if isinstance(jail, EnvironmentFault) else await settled(jail.episode(seed))


async def _one(
    episode: Episode | EnvironmentFault, action: str | None
) -> Step | EnvironmentFault | None:
    if isinstance(episode, EnvironmentFault) or action is None:
        return episode if isinstance(episode, EnvironmentFault) else None
    return await settled(episode.step(action))
