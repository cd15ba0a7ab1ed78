"""Many episodes of many environments at once, and the same through Gymnasium."""

import asyncio
import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from sandbox import EnvironmentFault, Pool, Sandbox, SandboxConfig, Step
from sandbox.gym import SandboxedEnv

ODD = ("\U0001f600 \u202e", "\u0645\u0631\u062d\u0628\u0627", "\x07\ttab", "")


async def test_many_episodes_of_many_environments_step_at_once_without_mixing(game: str) -> None:
    sources = [game, game.replace('f"{self.count} {action}"', 'f"other {action}"')]
    plays = [(sources[number % 2], number) for number in range(16)]
    async with Sandbox() as sandbox, Pool(sandbox, 2) as pool, pool.vector(plays) as vector:
        assert len(vector) == 16 and len(pool) == 2
        assert all(not isinstance(one, EnvironmentFault) for one in vector.observations)
        for turn in range(3):
            actions = [f"{number} {turn}" if number else None for number in range(16)]
            steps = await vector.step(actions)
            assert steps[0] is None
            for number, step in enumerate(steps[1:], 1):
                assert isinstance(step, Step)
                word = "other" if number % 2 else "0"
                assert step.observation[0].content == f"{word} {number} {turn}"


async def test_a_fault_is_one_slots_result(game: str, calm: SandboxConfig) -> None:
    plays = [(game, 0), ("x = 1", 0), (game, 1)]
    async with Sandbox(calm) as sandbox, Pool(sandbox, 2) as pool, pool.vector(plays) as vector:
        assert isinstance(vector.observations[1], EnvironmentFault)
        first, second, third = await vector.step(["do nonsense", "plus", "plus"])
        assert isinstance(first, EnvironmentFault) and first.reason == "raised"
        assert second is vector.observations[1]
        assert isinstance(third, Step)
        again = await vector.step(["plus", "plus", None])
        assert again == [first, second, None]


async def test_it_refuses_what_cannot_be_and_leaves_nothing_open(game: str) -> None:
    async with Sandbox() as sandbox, Pool(sandbox, 1) as pool:
        with pytest.raises(ValueError, match="2 sources"):
            async with pool.vector([(game, 0), (game + "#", 0)]):
                pass
        async with pool.vector([(game, 0)]) as vector:
            with pytest.raises(ValueError, match="2 actions"):
                await vector.step(["plus", "plus"])
        async with pool.lease(game) as jail:
            async with asyncio.timeout(5):
                while jail.open_episodes:  # noqa: ASYNC110 - it watches another process
                    await asyncio.sleep(0.01)


async def test_vectors_that_want_the_whole_pool_take_turns(game: str) -> None:
    plays = [(game, 0), (game + "#", 1)]

    async def play() -> None:
        async with pool.vector(plays) as vector:
            await vector.step(["plus", "plus"])

    async with Sandbox() as sandbox, Pool(sandbox, 2) as pool, asyncio.timeout(30):
        await asyncio.gather(*(play() for _ in range(4)))


def test_an_environment_made_by_its_id_passes_the_checker_without_a_warning(game: str) -> None:
    name = "spadework/checked-v0"
    gymnasium.register(
        name,
        entry_point="sandbox.gym:SandboxedEnv",
        kwargs={"source": game},
        order_enforce=False,
        disable_env_checker=True,
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            env = gymnasium.make(name, render_mode="ansi")
            check_env(env)
            env.close()
    finally:
        del gymnasium.registry[name]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_vector_environments_carry_any_unicode_text(game: str, kind: str) -> None:
    makers = [lambda: SandboxedEnv(game) for _ in ODD]
    vector = (
        SyncVectorEnv(makers) if kind == "sync" else AsyncVectorEnv(makers, shared_memory=False)
    )
    try:
        observations, _ = vector.reset(seed=list(range(len(ODD))))
        assert all(text.startswith("Reach") for text in observations)
        observations, rewards, terminated, truncated, _ = vector.step(ODD)
        assert tuple(observations) == tuple(f"0 {text}" for text in ODD)
        assert not rewards.any() and not terminated.any() and not truncated.any()
        assert vector.action_space.contains(vector.action_space.sample())
    finally:
        vector.close()
