"""Hostile environments, one claim each: what must not happen on the host does not happen.

Each file of ``environments/`` states its claim in its docstring. The group, the first word of its
name, says how it is played; ``OUTCOME`` says which fault it must come back as, None for none.
"""

import ast
import asyncio
import os
import resource
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import EnvironmentFault, Jail, Sandbox, SandboxConfig

FOLDER = Path(__file__).parent / "environments"
# Only an attack that must run into a limit waits for it; the rest must not fail on a busy machine.
SHORT = SandboxConfig(load_s=2.0, reset_s=2.0, step_s=1.0, episode_s=20.0, memory_mb=64)
LONG = SandboxConfig(load_s=20.0, reset_s=20.0, step_s=20.0, episode_s=60.0, memory_mb=64)
NEIGHBOUR = """
class NeighbourEnv:
    def reset(self, seed=None):
        return "ready", {}
    def step(self, action):
        return "echo " + action, 0.0, False, False, {}
"""

OUTCOME: dict[str, tuple[str, ...] | None] = {
    "contract_after_end": None,
    "contract_bool_reward": ("step: contract",),
    "contract_class_name": ("load: contract",),
    "contract_coding_line": ("load: contract",),
    "contract_evil_float": ("step: contract",),
    "contract_evil_text": ("step: contract",),
    "contract_exits": ("step: raised",),
    "contract_false_schemas": ("load: contract",),
    "contract_four_values": ("step: contract",),
    "contract_generator": ("step: contract",),
    "contract_infinite_reward": ("step: contract",),
    "contract_nan_reward": ("step: contract",),
    "contract_no_observation": ("step: contract",),
    "contract_nul": ("step: contract",),
    "contract_number_terminated": ("step: contract",),
    "contract_reset_roles": ("reset: contract",),
    "contract_reset_text": ("reset: contract",),
    "contract_surrogate": ("step: contract",),
    "contract_terminal": ("step: raised",),
    "contract_text_reward": ("step: contract",),
    "persistence_at_fork": None,
    "persistence_caches": None,
    "persistence_descriptors": None,
    "persistence_files": None,
    "persistence_guest": None,
    "persistence_modules": None,
    "persistence_page_cache": None,
    "persistence_process": None,
    "persistence_process_id": None,
    "persistence_random": None,
    "persistence_standard_input": None,
    "protocol_big_frame": ("step: oversize",),
    "protocol_boolean_id": ("step: protocol",),
    "protocol_closed_socket": ("step: protocol",),
    "protocol_control_words": ("step: protocol",),
    "protocol_deaf_socket": ("step: timeout",),
    "protocol_deep_nesting": ("step: protocol",),
    "protocol_descriptors": ("step: protocol",),
    "protocol_duplicate_keys": ("step: protocol",),
    "protocol_empty_frame": ("step: protocol",),
    "protocol_every_descriptor": None,
    "protocol_exit": ("step: crashed",),
    "protocol_extra_frames": ("step: protocol",),
    "protocol_fake_fault": ("step: protocol",),
    "protocol_half_frame": ("step: protocol",),
    "protocol_huge_number": ("step: protocol",),
    "protocol_late_frame": ("step: protocol",),
    "protocol_long_integer": ("step: protocol",),
    "protocol_many_keys": ("step: protocol",),
    "protocol_nan_reward": ("step: protocol",),
    "protocol_new_program": ("step: protocol",),
    "protocol_other_request": ("step: protocol",),
    "protocol_random_bytes": ("step: protocol",),
    "protocol_shutdown": ("step: protocol",),
    "protocol_silence": ("step: timeout",),
    "protocol_surrogate": ("step: contract",),
    "reach_files": None,
    "reach_first_process": None,
    "reach_futexes": None,
    "reach_lists": None,
    "reach_locks_leases": None,
    "reach_neighbours": None,
    "reach_network": None,
    "reach_old_interrupt": ("step: crashed", ""),
    "reach_other_tables": None,
    "reach_peer": None,
    "reach_privilege": None,
    "reach_proc_sys": None,
    "reach_programs": None,
    "reach_secrets": None,
    "reach_shared_files": None,
    "reach_socket_families": None,
    "reach_system_calls": None,
    "reach_whispers": None,
    "reach_write": None,
    "resources_alarms": None,
    "resources_compile_bomb": ("load: raised", "load: timeout"),
    "resources_descriptors": None,
    "resources_error_flood": ("step: raised",),
    "resources_error_text": ("step: timeout",),
    "resources_flood": None,
    "resources_fork_bomb": None,
    "resources_hidden_process": ("step: timeout",),
    "resources_huge_observation": ("step: oversize",),
    "resources_huge_power": ("step: timeout",),
    "resources_ignore_signals": ("step: timeout",),
    "resources_import_programs": None,
    "resources_many_files": None,
    "resources_mapping": None,
    "resources_memory": ("step: memory",),
    "resources_name": ("step: timeout",),
    "resources_one_line": None,
    "resources_own_filter": ("step: timeout",),
    "resources_raise_limits": None,
    "resources_recursion": ("step: raised", "step: crashed", "step: memory", "step: timeout"),
    "resources_regex": ("step: timeout",),
    "resources_segfault": ("step: crashed",),
    "resources_sleep": ("step: timeout",),
    "resources_spin_del": None,
    "resources_spin_import": ("load: timeout",),
    "resources_spin_reset": ("reset: timeout",),
    "resources_spin_step": ("step: timeout",),
    "resources_stubborn_end": None,
    "resources_thread_bomb": None,
    "resources_timers": None,
    "resources_tool_schema": ("load: oversize",),
}
"""The faults that may come back, as ``stage: reason``; "" where none may, too."""

NAMES = sorted(OUTCOME)


async def until(holds: Callable[[], bool], limit_s: float = 2.0) -> bool:
    """Wait until ``holds()``, at most ``limit_s``; returns whether it does."""
    end = time.monotonic() + limit_s
    while not holds() and time.monotonic() < end:  # noqa: ASYNC110 - it watches the kernel
        await asyncio.sleep(0.01)
    return holds()


def source_of(name: str) -> str:
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def descriptors() -> int:
    """How many descriptors this process holds."""
    return len(list(Path("/proc/self/fd").iterdir()))


def contents(folder: Path) -> dict[str, bytes]:
    """What lies in the folder that every jail of a sandbox has as its own."""
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def processes_under(pid: int) -> set[int]:
    """Every living process below ``pid``."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
                )
            except (OSError, ValueError):
                continue
    found, size = {pid}, 0
    while len(found) > size:
        size = len(found)
        found |= {child for child, parent in parents.items() if parent in found}
    return found - {pid}


async def play(jail: Jail, pause_s: float = 0.0) -> list[object]:
    """Reset and take up to three steps; returns what came back."""
    seen: list[object] = []
    async with await jail.episode(7) as episode:
        seen.append(episode.observation)
        for _ in range(3):
            await asyncio.sleep(pause_s)
            step = await episode.step("go")
            seen.append(step)
            if step.terminated or step.truncated:
                break
    return seen


def test_every_attack_states_its_claim_and_has_an_outcome() -> None:
    files = {path.stem: path for path in FOLDER.glob("*.py")}
    assert set(files) == set(OUTCOME)
    for path in files.values():
        claim = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert claim and claim.endswith(".") and "\n" not in claim, path.name


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A secret file, a secret variable, and two listening sockets on the host."""
    tmp_path.chmod(0o755)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    monkeypatch.setenv("SPADEWORK_SECRET", "secret")
    name = f"spadework-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind("\0" + name)
        unix.listen()
        tcp.setblocking(False)
        unix.setblocking(False)
        port = tcp.getsockname()[1]

        def fill(source: str) -> str:
            return (
                source.replace("PORT = 0", f"PORT = {port}")
                .replace("@NAME@", name)
                .replace("@SECRET@", str(secret))
            )

        yield fill
        for listener in (tcp, unix):
            with pytest.raises(BlockingIOError):
                listener.accept()


@pytest.mark.parametrize("name", NAMES)
async def test_attack(name: str, outside) -> None:
    """The attack comes back as its fault, in time, reaches nothing, and spares neighbours."""
    group = name.partition("_")[0]
    source = outside(source_of(name))
    hangs = "timeout" in str(OUTCOME[name])
    config = SHORT if hangs else LONG
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    held = descriptors()
    async with (
        Sandbox(config) as sandbox,
        await sandbox.open(NEIGHBOUR) as other,
        await other.episode(0) as neighbour,
    ):
        assert sandbox._launcher is not None
        programs = contents(sandbox._launcher.programs)
        began = time.monotonic()
        fault, seen, below, jail = "", [], set(), None
        try:
            jail = await sandbox.open(source)
            seen = await play(jail, 0.3 if "late" in name else 0.0)
            if group == "persistence":
                assert await play(jail) == seen
        except EnvironmentFault as caught:
            fault = f"{caught.stage}: {caught.reason}"
            assert str(caught).isprintable()
        took = time.monotonic() - began
        assert (await neighbour.step("still here")).observation[0].content == "echo still here"
        if jail is not None:
            # The jail survives its episode: another one starts as if nothing had been.
            assert jail.alive
            if "reset" not in name:
                async with await jail.episode(1) as again:
                    assert again.observation[0].content
            below = processes_under(jail.pid)
            await jail.close()
        assert contents(sandbox._launcher.programs) == programs
    expected = OUTCOME[name]
    assert fault in expected if expected else not fault, f"{fault!r}, seen {seen}"
    assert "won" not in str(seen)
    if hangs:
        assert took < SHORT.load_s + SHORT.reset_s + SHORT.step_s + 1.0
    if group in ("reach", "resources") and not fault:
        assert seen[0][0].content in ("nothing", "ready"), seen  # type: ignore[index]
    assert await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))
    assert descriptors() <= held
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 40_000, f"the host grew by {grown} KiB"


async def test_an_episode_ends_with_everything_it_started(outside) -> None:
    """While the jail lives on, nothing of a hostile episode is left in it."""
    async with (
        Sandbox(SHORT) as sandbox,
        await sandbox.open(source_of("resources_spin_step")) as jail,
    ):
        for _ in range(2):
            with pytest.raises(EnvironmentFault):
                await play(jail)
        assert await until(lambda: jail.open_episodes == 0)
        assert await until(lambda: len(processes_under(jail.pid)) == 2), "guest, and one that waits"


async def test_a_flood_leaves_a_capped_log() -> None:
    async with Sandbox(LONG) as sandbox, await sandbox.open(source_of("resources_flood")) as jail:
        episode = await jail.episode(0)
        await episode.close()
        assert await until(lambda: bool(episode.log))
        assert episode.log.startswith("flood flood")
        assert len(episode.log) <= LONG.log_bytes


async def test_no_episode_can_end_or_slow_another_of_its_own_jail(outside) -> None:
    """Two of them attack while a third one plays; it is still there, and so is its program."""
    async with (
        Sandbox(LONG) as sandbox,
        await sandbox.open(source_of("reach_neighbours")) as jail,
        await jail.episode(0) as first,
    ):
        others = [await jail.episode(seed) for seed in (1, 2)]
        for other in others:
            assert other.observation[0].content == "nothing"
            await other.close()
        assert (await first.step("still here")).observation[0].content == "nothing"


async def test_no_reward_is_taken_after_the_end(outside) -> None:
    async with (
        Sandbox(LONG) as sandbox,
        await sandbox.open(source_of("contract_after_end")) as jail,
        await jail.episode(0) as episode,
    ):
        last = await episode.step("go")
        assert (last.reward, last.terminated) == (0.0, True)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="over"):
                await episode.step("go")


async def test_an_episode_that_does_not_notice_its_end_is_gone_soon(outside) -> None:
    async with (
        Sandbox(LONG) as sandbox,
        await sandbox.open(source_of("resources_stubborn_end")) as jail,
    ):
        episode = await jail.episode(0)
        await episode.close()
        assert await until(lambda: jail.open_episodes == 0)
        assert await until(lambda: len(processes_under(jail.pid)) == 2), "guest, and one that waits"
