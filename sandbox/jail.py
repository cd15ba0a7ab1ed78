"""One environment in its jail: the control socket, its episodes, and its end."""

import asyncio
import secrets
import socket
from types import TracebackType
from typing import Final, Self

from sandbox import protocol
from sandbox.config import SandboxConfig
from sandbox.contract import JailInfo
from sandbox.episode import Episode
from sandbox.faults import EnvironmentFault, SandboxFault
from sandbox.launch import Launcher, Outside
from sandbox.port import Port
from sandbox.protocol import Frame, Malformed

# A jail starts in some 30 ms; this long only on a host that is close to standing still.
_START_S: Final = 30.0
_CONTROL_CAP: Final = 131_072
_NUMBER_BITS: Final = 52


class Jail:
    """A loaded source, ready for episodes. Made by ``Sandbox.open``; an async context manager."""

    info: JailInfo

    def __init__(self, outside: Outside, control: socket.socket, config: SandboxConfig) -> None:
        self._outside = outside
        self._config = config
        self._limits = config.limits
        self._episodes: dict[int, Episode] = {}
        self._memory_kills = 0
        self._news: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._ending: asyncio.Task[None] | None = None
        largest = max(_CONTROL_CAP, self._limits.frame_bytes)
        self._room = memoryview(bytearray(largest + 1))
        self._control = Port(control, self._room, self._arrived, self._hung_up)
        self._gone = False

    @staticmethod
    async def start(launcher: Launcher, hash_seed: int) -> "Jail":
        """Start a jail that has no source yet; raises ``SandboxFault``."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            outside = launcher.start(theirs, hash_seed)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        jail = Jail(outside, ours, launcher.config)
        try:
            await jail._begin()
        except BaseException:
            await jail.close()
            raise
        return jail

    async def load(self, source: bytes) -> None:
        """Load the source, once; raises ``EnvironmentFault``, and then the jail has ended."""
        try:
            await self._load(source)
        except BaseException:
            await self.close()
            raise

    @property
    def longest_action(self) -> int:
        """See :class:`sandbox.Limits`."""
        return self._limits.longest_action

    @property
    def alive(self) -> bool:
        """Whether episodes can still be opened."""
        return not self._gone

    @property
    def ended(self) -> bool:
        """Whether nothing of the jail is left."""
        return self._ending is not None and self._ending.done()

    @property
    def pid(self) -> int:
        """The process id of the jail's outermost process."""
        return self._outside.pid

    @property
    def open_episodes(self) -> int:
        """How many episodes the guest has not reaped yet."""
        return len(self._episodes)

    def peak_memory(self) -> int:
        """Return the most resident memory, in bytes, that an open episode has had; 0 if unknown."""
        return self._outside.peak_memory()

    async def episode(self, seed: int) -> Episode:
        """Open an episode and reset it with ``seed``; raises ``EnvironmentFault``.

        Raises ``SandboxFault`` when the jail has ended or is full.
        """
        episode = self._open(self.info)
        try:
            await episode.reset(seed)
        except BaseException:
            await episode.close()
            raise
        return episode

    async def close(self) -> None:
        """End every episode and the jail, and wait until nothing of it is left. Safe to call twice.

        Cancelling the wait does not stop the ending.
        """
        if self._ending is None:
            self._end_episodes()
            self._control.close()
            self._ending = asyncio.create_task(self._outside.end())
        await asyncio.shield(self._ending)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # ---- for the episodes

    def kill(self, number: int, grace_s: float) -> None:
        """End one child, whose socket is closed, unless it ends by itself within ``grace_s``."""
        if grace_s and number in self._episodes:
            asyncio.get_running_loop().call_later(grace_s, self.kill, number, 0.0)
        elif number in self._episodes:
            self._control.send(protocol.encode({"kill": number}, _CONTROL_CAP))

    def killed_for_memory(self) -> bool:
        """Whether the kernel killed a process of this jail for memory since the last question."""
        count = self._outside.memory_kills()
        more = count > self._memory_kills
        self._memory_kills = count
        return more

    # ---- within

    async def _begin(self) -> None:
        limits = self._limits
        numbers = {
            "max_source_bytes": limits.max_source_bytes,
            "frame_bytes": limits.frame_bytes,
            "log_bytes": limits.log_bytes,
            "memory_mb": limits.memory_mb,
            "jailed": self._config.isolation == "nsjail",
        }
        self._control.send(protocol.encode({"limits": numbers}, _CONTROL_CAP))
        try:
            async with asyncio.timeout(_START_S):
                if await self._news.get() != {"ready": True}:
                    raise SandboxFault(f"the jail does not start: {self._why()}")
        except TimeoutError:
            raise SandboxFault(f"the jail does not start within {_START_S:g} s") from None
        self._outside.find_guest()

    async def _load(self, source: bytes) -> None:
        limits = self._limits
        self._control.send(source)
        loop = asyncio.get_running_loop()
        until = loop.time() + limits.load_s
        try:
            async with asyncio.timeout(limits.load_s):
                news = await self._news.get()
        except TimeoutError:
            detail = f"compiling takes more than {limits.load_s:g} s"
            raise EnvironmentFault("load", "timeout", detail) from None
        if news is None:
            raise EnvironmentFault("load", "crashed", "the compiler crashed on this source")
        if "fault" in news:
            raise EnvironmentFault("load", news["fault"]["reason"], news["fault"]["detail"])
        async with self._open(None) as first:
            self.info = await first.describe(max(0.1, until - loop.time()))

    def _why(self) -> str:
        said = self._outside.said() or "no message"
        return f"{said}; `spadework doctor` shows which layer is missing"

    def _open(self, info: JailInfo | None) -> Episode:
        if self._gone or self._ending is not None:
            raise SandboxFault("the jail has ended; open the source again")
        if len(self._episodes) >= self._config.jail_episodes:
            raise SandboxFault(
                f"{len(self._episodes)} episodes are open in one jail; close some, or raise "
                "sandbox.jail_episodes"
            )
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Not a counter: what the guest keeps in memory its children can read.
        number = secrets.randbits(_NUMBER_BITS)
        room = self._room[: self._limits.frame_bytes + 1]
        episode = Episode(number, ours, room, self, self._limits, info)
        self._episodes[number] = episode
        self._control.send(protocol.encode({"open": number}, _CONTROL_CAP), theirs)
        return episode

    def _arrived(self, data: bytes) -> None:
        try:
            frame = protocol.parse(data)
        except Malformed:
            self._hung_up()
            return
        if "ended" in frame:
            episode = self._episodes.pop(frame["ended"], None)
            if episode is not None:
                episode.ended(frame)
        elif "doomed" in frame:
            try:
                self._outside.strike(frame["pid"])
            except Exception:  # whatever it is
                # Rather no jail than one with a process that cannot be ended.
                self._hung_up()
        else:
            self._news.put_nowait(frame)

    def _hung_up(self) -> None:
        self._gone = True
        self._control.close()
        self._news.put_nowait(None)
        self._end_episodes()

    def _end_episodes(self) -> None:
        self._gone = True
        episodes = list(self._episodes.values())
        self._episodes.clear()
        for episode in episodes:
            episode.ended(None)
