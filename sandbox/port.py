"""One SOCK_SEQPACKET socket on the event loop: whole frames in, whole frames out, no threads."""

import array
import asyncio
import socket
from collections import deque
from collections.abc import Callable


class Port:
    """Calls ``on_frame(bytes)`` for each frame and ``on_close()`` once when the peer is gone.

    A frame longer than ``cap`` is handed over cut to ``cap + 1`` bytes, so that its length says so.
    Ports of one event loop may share ``room``, the ``cap + 1`` bytes that frames are read into: to
    make that anew for each frame would cost more than reading it.
    """

    def __init__(
        self,
        sock: socket.socket,
        room: memoryview,
        on_frame: Callable[[bytes], None],
        on_close: Callable[[], None],
    ) -> None:
        self._sock = sock
        self._room = room
        self._on_frame = on_frame
        self._on_close = on_close
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[bytes, socket.socket | None]] = deque()
        sock.setblocking(False)
        self._loop.add_reader(sock.fileno(), self._readable)

    @property
    def closed(self) -> bool:
        """Whether this end is closed."""
        return self._sock.fileno() < 0

    def send(self, data: bytes, handed: socket.socket | None = None) -> None:
        """Send one frame, queued while the peer is slow; ``handed`` goes along, closed here."""
        if self.closed:
            if handed is not None:
                handed.close()
            return
        if not self._waiting:
            try:
                self._put(data, handed)
            except (BlockingIOError, InterruptedError):
                self._loop.add_writer(self._sock.fileno(), self._flush)
            except OSError:
                if handed is not None:
                    handed.close()
                return  # the peer is gone; the reader sees the end and says so
            else:
                return
        self._waiting.append((data, handed))

    def close(self) -> None:
        """Close this end; no callback is called any more."""
        if self.closed:
            return
        self._loop.remove_reader(self._sock.fileno())
        self._loop.remove_writer(self._sock.fileno())
        self._sock.close()
        for _, handed in self._waiting:
            if handed is not None:
                handed.close()
        self._waiting.clear()

    def _put(self, data: bytes, handed: socket.socket | None) -> None:
        if handed is None:
            self._sock.send(data)
        else:
            rights = array.array("i", [handed.fileno()])
            self._sock.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            handed.close()

    def _flush(self) -> None:
        while self._waiting:
            try:
                self._put(*self._waiting[0])
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                for _, left in self._waiting:
                    if left is not None:
                        left.close()
                self._waiting.clear()
                break
            self._waiting.popleft()
        self._loop.remove_writer(self._sock.fileno())

    def _readable(self) -> None:
        try:
            size = self._sock.recv_into(self._room)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            size = 0
        if size:
            self._on_frame(bytes(self._room[:size]))
            return
        self._loop.remove_reader(self._sock.fileno())
        self._on_close()
