"""One SOCK_SEQPACKET socket on the event loop: whole frames in, whole frames out, no threads."""

import array
import asyncio
import socket
from collections import deque
from collections.abc import Callable


class Port:
    """Calls ``on_frame(bytes)`` for each frame and ``on_close()`` once when the peer is gone.

    A frame longer than ``cap`` is handed over cut to ``cap + 1`` bytes, so that its length says so.
    """

    def __init__(
        self,
        sock: socket.socket,
        cap: int,
        on_frame: Callable[[bytes], None],
        on_close: Callable[[], None],
    ) -> None:
        self._sock = sock
        self._cap = cap
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
        self._waiting.append((data, handed))
        if len(self._waiting) == 1:
            self._flush()

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

    def _flush(self) -> None:
        while self._waiting:
            data, handed = self._waiting[0]
            try:
                if handed is None:
                    self._sock.send(data)
                else:
                    rights = array.array("i", [handed.fileno()])
                    self._sock.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            except (BlockingIOError, InterruptedError):
                self._loop.add_writer(self._sock.fileno(), self._flush)
                return
            except OSError:
                # The peer is gone; the reader sees the end and says so.
                for _, left in self._waiting:
                    if left is not None:
                        left.close()
                self._waiting.clear()
                break
            if handed is not None:
                handed.close()
            self._waiting.popleft()
        self._loop.remove_writer(self._sock.fileno())

    def _readable(self) -> None:
        try:
            data = self._sock.recv(self._cap + 1)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if data:
            self._on_frame(data)
            return
        self._loop.remove_reader(self._sock.fileno())
        self._on_close()
