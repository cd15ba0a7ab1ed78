"""Warm jails: bounded, least recently used out, replaced when dead, safe to cancel."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest

from sandbox import EnvironmentFault, Pool, Sandbox, SandboxConfig


def numbered(game: str, count: int) -> list[str]:
    return [f"{game}\n# {number}\n" for number in range(count)]


async def test_leases_of_one_source_share_a_jail(game: str) -> None:
    async with Sandbox() as sandbox, Pool(sandbox, 2) as pool:
        async with pool.lease(game) as one, pool.lease(game) as two:
            assert one is two
        async with pool.lease(game) as three:
            assert three is one
        assert len(pool) == 1


async def test_the_least_recently_used_jail_goes_first(game: str) -> None:
    a, b, c = numbered(game, 3)
    async with Sandbox() as sandbox, Pool(sandbox, 2) as pool:
        kept = {}
        for source in (a, b, a, c):
            async with pool.lease(source) as jail:
                kept[source] = jail
        assert len(pool) == 2
        assert [kept[source].alive for source in (a, b, c)] == [True, False, True]


async def test_a_full_pool_waits_for_a_lease_to_come_back(game: str) -> None:
    a, b = numbered(game, 2)
    async with Sandbox() as sandbox, Pool(sandbox, 1) as pool:

        async def second() -> str:
            async with pool.lease(b) as jail, await jail.episode(0) as episode:
                return episode.observation[0].content

        async with pool.lease(a):
            waiting = asyncio.create_task(second())
            await asyncio.sleep(0.1)
            assert not waiting.done()
        assert (await asyncio.wait_for(waiting, 5)).startswith("Reach")


async def test_many_leases_of_many_sources_all_get_their_turn(game: str) -> None:
    sources = numbered(game, 6)

    async def play(source: str) -> None:
        async with pool.lease(source) as jail, await jail.episode(1) as episode:
            await episode.step("plus")

    async with Sandbox(SandboxConfig(parallel_starts=2)) as sandbox, Pool(sandbox, 3) as pool:
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            for _ in range(4):
                for source in sources:
                    group.create_task(play(source))
        assert len(pool) <= 3


async def test_a_dead_jail_is_replaced(game: str) -> None:
    async with Sandbox() as sandbox, Pool(sandbox, 1) as pool:
        async with pool.lease(game) as jail:
            os.kill(jail.pid, signal.SIGKILL)
            for _ in range(100):
                if not jail.alive:
                    break
                await asyncio.sleep(0.01)
        async with pool.lease(game) as other:
            assert other is not jail and other.alive


async def test_a_bad_source_faults_its_leases_and_leaves_the_pool_whole(game: str) -> None:
    async with Sandbox() as sandbox, Pool(sandbox, 1) as pool:
        for _ in range(2):
            with pytest.raises(EnvironmentFault, match="load"):
                async with pool.lease("x = 1"):
                    pass
        async with pool.lease(game) as jail:
            assert jail.alive


async def test_a_lease_cancelled_while_it_makes_room_leaves_no_jail_behind(game: str) -> None:
    async def take(source: str) -> None:
        async with pool.lease(source):
            await asyncio.sleep(60)

    def children() -> set[str]:
        found: set[str] = set()
        for task in Path("/proc/self/task").iterdir():
            with contextlib.suppress(FileNotFoundError):  # that thread has just ended
                found.update((task / "children").read_text().split())
        return found

    before = children()
    async with Sandbox(SandboxConfig(spare_jails=0)) as sandbox:
        async with Pool(sandbox, 1) as pool:
            for source in numbered(game, 6):
                # The jail of the one before is still starting when room is made.
                task = asyncio.create_task(take(source))
                await asyncio.sleep(0.003)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        assert children() == before


async def test_a_cancelled_lease_leaves_its_jail_to_others(game: str) -> None:
    async with Sandbox() as sandbox, Pool(sandbox, 1) as pool:

        async def take() -> None:
            async with pool.lease(game):
                await asyncio.sleep(60)

        for delay in (0.0, 0.01, 0.2):
            task = asyncio.create_task(take())
            await asyncio.sleep(delay)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        async with asyncio.timeout(5), pool.lease(game + "#"):
            assert len(pool) == 1
