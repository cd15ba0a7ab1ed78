"""Episodes that resist their end: it comes from outside, to each of them."""

import asyncio
from pathlib import Path

import pytest

from sandbox import EnvironmentFault, Sandbox, SandboxConfig

FOLDER = Path(__file__).parent / "environments"
QUICK = SandboxConfig(step_s=0.3, memory_mb=64)


async def until_reaped(jail, left: int) -> bool:
    """Wait until at most ``left`` episodes of ``jail`` are not reaped."""
    for _ in range(200):
        if jail.open_episodes <= left:
            return True
        await asyncio.sleep(0.01)
    return False


@pytest.mark.parametrize(
    "name", ["resources_name", "resources_hidden_process", "resources_own_filter"]
)
async def test_episodes_that_hide_are_ended_one_and_all(name: str) -> None:
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    async with Sandbox(QUICK) as sandbox, await sandbox.open(source) as jail:
        # The neighbour is older, so that looking for its process meets it before the others.
        async with await jail.episode(0) as neighbour:
            for seed in range(2):
                episode = await jail.episode(seed)
                with pytest.raises(EnvironmentFault, match="step: timeout"):
                    await episode.step("go")
            assert await until_reaped(jail, 1), f"{jail.open_episodes} processes are left"
            assert jail.alive
            with pytest.raises(EnvironmentFault, match="step: timeout"):
                await neighbour.step("go")
        assert await until_reaped(jail, 0)
