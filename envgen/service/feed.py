"""What happens to jobs, for whoever listens: the worker publishes, streams follow at their own pace."""

import asyncio
import secrets
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

KEPT_EVENTS, KEPT_JOBS = 2000, 64


@dataclass(frozen=True)
class Event:
    """One event of a job: ``number`` counts within the job and this process."""

    number: int
    name: str
    data: Mapping[str, Any]


class _Channel:
    def __init__(self) -> None:
        self.events: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self.count = 0
        self.progress: Mapping[str, Any] | None = None
        self.ended = False


class Feed:
    """Events of each job, the newest kept for those who come late. Threads may publish.

    A slow reader costs nothing: it finds what is still kept when it comes back.
    """

    def __init__(self) -> None:
        self.boot = secrets.token_hex(4)
        """Tells event ids of this process from those of one before a restart."""
        self._lock = threading.Lock()
        self._channels: dict[str, _Channel] = {}
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._closed = False

    def publish(self, job: str, name: str, data: Mapping[str, Any], *, last: bool = False) -> None:
        """Add an event to a job; ``last`` ends its streams."""
        with self._lock:
            channel = self._channels.setdefault(job, _Channel())
            channel.events.append(Event(channel.count, name, data))
            channel.count += 1
            channel.ended = last
            if name == "progress":
                channel.progress = data
            if last:  # in the order of their ends, so that the last to end are kept
                self._channels[job] = self._channels.pop(job)
            ended = [one for one, channel in self._channels.items() if channel.ended]
            for one in ended[:-KEPT_JOBS]:
                del self._channels[one]
            self._wake()

    def close(self) -> None:
        """End every stream: the process is stopping."""
        with self._lock:
            self._closed = True
            self._wake()

    def count(self, job: str) -> int:
        """Return the number that the next event of a job will have."""
        with self._lock:
            return self._channels[job].count if job in self._channels else 0

    def progress(self, job: str) -> Mapping[str, Any] | None:
        """Return the newest progress of a job that this process knows."""
        with self._lock:
            return self._channels[job].progress if job in self._channels else None

    async def follow(self, job: str, first: int) -> AsyncIterator[Event]:
        """Yield a job's events from number ``first`` on, until it ends or the feed closes."""
        while True:
            with self._listening() as woken:
                events, ended = self._since(job, first)
                if not events and not ended:
                    await woken.wait()
            for event in events:
                yield event
                first = event.number + 1
            if ended:
                return

    def _since(self, job: str, first: int) -> tuple[list[Event], bool]:
        with self._lock:
            channel = self._channels.get(job)
            if channel is None:
                return [], True
            events = [one for one in channel.events if one.number >= first]
            return events, self._closed or channel.ended

    @contextmanager
    def _listening(self) -> Iterator[asyncio.Event]:
        mine = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting.add(mine)
        try:
            yield mine[1]
        finally:
            with self._lock:
                self._waiting.discard(mine)

    def _wake(self) -> None:
        for loop, woken in self._waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(woken.set)
