"""One episode: a forked child of a jail, spoken to over its own socket."""

import asyncio
import secrets
import signal
import socket
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, Self, TypeVar

from sandbox import protocol
from sandbox.config import Limits
from sandbox.contract import JailInfo, Observation, Setting, Step
from sandbox.faults import EnvironmentFault
from sandbox.port import Port
from sandbox.protocol import Breach, Frame, Malformed

T = TypeVar("T")

# How long the guest may take to say how a child of it ended, once its socket is closed.
_OBITUARY_S: Final = 0.5
# An idle child sees its closed socket and ends; only one that does not is killed.
_FAREWELL_S: Final = 0.05
_REQUEST_BITS: Final = 52


class Keeper(Protocol):
    """What an episode needs of its jail."""

    def kill(self, number: int, grace_s: float) -> None:
        """End the child, unless it does so within ``grace_s``; the guest then tells how it ended."""

    def killed_for_memory(self) -> bool:
        """Whether the kernel killed something in this jail for memory since the last question."""

    @property
    def alive(self) -> bool:
        """Whether the jail still runs."""


class Episode:
    """One play of an environment. Made by ``Jail.episode``; one call at a time.

    Every method raises ``EnvironmentFault`` when the environment breaks a limit or the contract;
    after a fault the episode is over and each further call raises the same fault. Cancelling a call
    ends the episode. ``observation`` is the one after reset.
    """

    observation: Observation = ()

    def __init__(
        self,
        number: int,
        sock: socket.socket,
        room: memoryview,
        keeper: Keeper,
        limits: Limits,
        info: JailInfo | None,
    ) -> None:
        self.number = number
        self.log = ""
        self._keeper = keeper
        self._limits = limits
        self._info = info
        self._port = Port(sock, room, self._arrived, self._hung_up)
        self._loop = asyncio.get_running_loop()
        self._request = 0
        self._reply: asyncio.Future[bytes] | None = None
        self._ended: asyncio.Future[Frame | None] = self._loop.create_future()
        self._fault: EnvironmentFault | None = None
        self._over = False
        self._timer = self._loop.call_later(limits.episode_s, self._expire)
        self._deadline = 0.0
        self._watch: asyncio.TimerHandle | None = None

    async def step(self, action: str) -> Step:
        """Play one action; raises ``RuntimeError`` after the episode's own end."""
        if self._over:
            raise RuntimeError(
                "the episode is over: a terminated or truncated play has no next step"
            )
        assert self._info is not None
        setting = self._info.setting
        request = {"op": "step", "action": action}
        step = await self._ask(
            "step", request, self._limits.step_s, lambda b: protocol.step(b, setting)
        )
        self._over = step.terminated or step.truncated
        return step

    async def solution(self) -> list[str]:
        """Return the author's winning play from the state just after reset, as actions."""
        return await self._ask(
            "solution", {"op": "solution"}, self._limits.step_s, protocol.actions
        )

    async def close(self) -> None:
        """End the episode. Safe to call twice."""
        self._stop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # ---- for the jail

    async def reset(self, seed: int) -> None:
        """Run the source and reset the environment; fills ``observation``."""
        assert self._info is not None
        setting = self._info.setting
        self.observation = await self._ask(
            "reset",
            {"op": "reset", "seed": seed},
            self._limits.reset_s,
            lambda body: _first(body, setting),
        )

    async def describe(self, limit_s: float) -> JailInfo:
        """Run the source and describe its class."""
        return await self._ask("load", {"op": "describe"}, limit_s, protocol.info)

    def ended(self, frame: Frame | None) -> None:
        """Take the guest's word on how the child ended; None when the jail itself ended."""
        if frame is not None:
            self.log = protocol.clean(str(frame["log"]))
        if not self._ended.done():
            self._ended.set_result(frame)
        if frame is None:
            self._hung_up()

    # ---- within

    async def _ask(
        self, stage: str, request: Frame, limit_s: float, read: Callable[[Frame], T]
    ) -> T:
        if self._fault is not None:
            raise self._fault
        if self._reply is not None:
            raise RuntimeError("an episode takes one call at a time")
        if self._port.closed:
            raise RuntimeError("the episode is closed")
        # Not to be guessed, so that no answer can be sent ahead of its question.
        self._request = secrets.randbits(_REQUEST_BITS)
        try:
            data = protocol.encode({"id": self._request, **request}, self._limits.frame_bytes)
        except ValueError as error:
            raise self._fail(EnvironmentFault(stage, "oversize", f"the action: {error}")) from None
        reply = self._reply = self._loop.create_future()
        self._deadline = self._loop.time() + limit_s
        if self._watch is None or self._watch.when() > self._deadline:
            self._set_watch()
        try:
            self._port.send(data)
            frame = await reply
            return self._read(frame, stage, read)
        except TimeoutError:
            detail = f"no answer within {limit_s:.3g} s"
            raise self._fail(EnvironmentFault(stage, "timeout", detail)) from None
        except ConnectionError:
            raise self._fail(await self._obituary(stage)) from None
        except EnvironmentFault as fault:
            raise self._fail(fault) from None
        except asyncio.CancelledError:
            # The answer would arrive late and be taken for the next one.
            self._stop()
            raise
        finally:
            self._reply = None

    def _read(self, data: bytes, stage: str, read: Callable[[Frame], T]) -> T:
        cap = self._limits.frame_bytes
        if len(data) > cap:
            raise EnvironmentFault(stage, "oversize", f"a reply exceeds {cap} bytes")
        try:
            return read(protocol.open_reply(protocol.parse(data), self._request, stage))
        except Malformed as error:
            raise EnvironmentFault(stage, "protocol", str(error)) from None
        except Breach as error:
            raise EnvironmentFault(stage, "contract", str(error)) from None

    async def _obituary(self, stage: str) -> EnvironmentFault:
        """Wait for the guest's word on a child whose socket closed, and name the reason."""
        if self._fault is not None:
            return self._fault
        if not self._ended.done():
            await asyncio.wait([self._ended], timeout=_OBITUARY_S)
        if not self._ended.done():
            return EnvironmentFault(stage, "protocol", "the environment closed its socket")
        frame = self._ended.result()
        if frame is None:
            return EnvironmentFault(stage, "crashed", "the jail ended")
        status = frame["status"]
        if status == -signal.SIGKILL and self._keeper.killed_for_memory():
            return EnvironmentFault(stage, "memory", "killed: the jail's memory is used up")
        if status < 0:
            return EnvironmentFault(stage, "crashed", f"ended by signal {_signal_name(-status)}")
        return EnvironmentFault(stage, "crashed", f"the process exited with status {status}")

    def _arrived(self, data: bytes) -> None:
        if self._reply is None or self._reply.done():
            self._fail(EnvironmentFault("step", "protocol", "a frame came without a request"))
        else:
            self._reply.set_result(data)

    def _hung_up(self) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(ConnectionError())
        elif self._reply is None and self._fault is None and not self._port.closed:
            self._fail(
                EnvironmentFault("episode", "crashed", "the process ended between two steps")
            )

    def _set_watch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._watch = self._loop.call_at(self._deadline, self._look)

    def _look(self) -> None:
        # One timer outlives many quick requests; setting one for each would cost as much as a step.
        self._watch = None
        if self._reply is not None and not self._reply.done():
            if self._loop.time() >= self._deadline:
                self._reply.set_exception(TimeoutError())
            else:
                self._set_watch()

    def _expire(self) -> None:
        limit = self._limits.episode_s
        fault = EnvironmentFault("episode", "timeout", f"the episode is older than {limit:g} s")
        self._fail(fault)
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(fault)

    def _fail(self, fault: EnvironmentFault) -> EnvironmentFault:
        if self._fault is None:
            self._fault = fault
        self._stop()
        return self._fault

    def _stop(self) -> None:
        self._timer.cancel()
        if self._watch is not None:
            self._watch.cancel()
        if not self._port.closed:
            self._port.close()
            idle = self._fault is None and self._reply is None
            self._keeper.kill(self.number, _FAREWELL_S if idle else 0.0)


def _first(body: Frame, setting: Setting) -> Observation:
    if set(body) != {"obs"}:
        raise Malformed("the frame has unexpected keys")
    return protocol.observation(body["obs"], setting, True)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
