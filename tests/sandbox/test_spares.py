"""Jails started ahead: taken once, replaced when dead, gone with their sandbox."""

import asyncio
import os
import signal
from pathlib import Path

from sandbox import Sandbox, SandboxConfig


def children() -> set[str]:
    return {
        child
        for task in Path("/proc/self/task").iterdir()
        for child in (task / "children").read_text().split()
    }


async def test_one_source_alone_pays_for_no_spare(game: str) -> None:
    before = children()
    async with Sandbox() as sandbox, await sandbox.open(game) as jail:
        assert children() - before == {str(jail.pid)}


async def test_the_third_opening_finds_a_jail_that_is_ready_and_nobody_gets_it_twice(
    game: str,
) -> None:
    before = children()
    async with Sandbox() as sandbox:
        jails = [await sandbox.open(game) for _ in range(2)]
        spare = await sandbox._spares._waiting[0]
        jails += await asyncio.gather(sandbox.open(game), sandbox.open(game))
        assert spare in jails and len({jail.pid for jail in jails}) == 4
        for jail in jails:
            async with await jail.episode(3) as episode:
                assert episode.observation[0].content.startswith("Reach")
    assert children() == before


async def test_a_spare_has_the_hash_seed_that_was_asked_for(game: str) -> None:
    async def order(sandbox: Sandbox, hash_seed: int) -> str:
        async with (
            await sandbox.open(game, hash_seed=hash_seed) as jail,
            await jail.episode(0) as episode,
        ):
            return (await episode.step("do set")).observation[0].content

    async with Sandbox(SandboxConfig(spare_jails=2)) as sandbox:
        seen = {seed: [await order(sandbox, seed) for _ in range(4)] for seed in (1, 2, 3)}
        assert len(sandbox._spares._waiting) == 2
    assert all(len(set(orders)) == 1 for orders in seen.values())
    assert len({orders[0] for orders in seen.values()}) > 1


async def test_a_spare_that_died_is_replaced(game: str) -> None:
    async with Sandbox() as sandbox:
        for _ in range(2):
            await (await sandbox.open(game)).close()
        spare = await sandbox._spares._waiting[0]
        os.kill(spare.pid, signal.SIGKILL)
        while spare.alive:  # noqa: ASYNC110 - it watches the kernel
            await asyncio.sleep(0.01)
        async with await sandbox.open(game) as jail:
            assert jail is not spare and jail.alive


async def test_a_cancelled_opening_and_a_closed_sandbox_leave_nothing(game: str) -> None:
    before = children()
    async with Sandbox() as sandbox:
        for _ in range(2):
            await (await sandbox.open(game)).close()
        for delay in (0.0, 0.001, 0.01):
            task = asyncio.create_task(sandbox.open(game))
            await asyncio.sleep(delay)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    assert children() == before
