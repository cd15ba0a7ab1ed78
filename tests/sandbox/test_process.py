"""The weaker isolation: only by name, with the same contract and the same limits."""

import asyncio
import os
import time

import pytest

from sandbox import EnvironmentFault, Sandbox, SandboxConfig

WEAK = SandboxConfig(isolation="process", load_s=3.0, reset_s=3.0, step_s=1.0, memory_mb=64)


def test_the_default_is_the_jail() -> None:
    assert SandboxConfig().isolation == "nsjail"


async def test_games_and_tools_play_the_same(game: str, desk: str) -> None:
    async with Sandbox(WEAK) as sandbox:
        for source in (game, desk):
            async with await sandbox.open(source) as jail, await jail.episode(1) as episode:
                for action in await episode.solution():
                    step = await episode.step(action)
                assert (step.reward, step.terminated) == (1.0, True)


async def test_hangs_crashes_and_secrets(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPADEWORK_SECRET", "secret")
    source = game.replace(
        'if what == "hang":',
        'if what == "environ":\n            return os.environ\n        if what == "hang":',
    )
    async with Sandbox(WEAK) as sandbox, await sandbox.open(source) as jail:
        hung, crashed, fine = [await jail.episode(seed) for seed in range(3)]
        began = time.monotonic()
        for episode, action, reason in (
            (hung, "do hang", "timeout"),
            (crashed, "do crash", "crashed"),
        ):
            with pytest.raises(EnvironmentFault, match=reason):
                await episode.step(action)
        assert time.monotonic() - began < WEAK.step_s + 1.5
        assert "SPADEWORK" not in (await fine.step("do environ")).observation[0].content


async def test_nothing_is_left_behind(game: str) -> None:
    async with Sandbox(WEAK) as sandbox, await sandbox.open(game) as jail:
        hung = await jail.episode(0)
        inside = int((await hung.step("do pid")).observation[0].content)
        pending = asyncio.create_task(hung.step("do hang"))
        await asyncio.sleep(0.05)
        await jail.close()
        with pytest.raises(EnvironmentFault, match="the jail ended"):
            await pending
    for pid in (inside, jail.pid):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
