"""The process: the socket, the worker, uvicorn, and an orderly end."""

import errno
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import uvicorn

from envgen.service.app import make_app
from envgen.service.config import ServiceConfig
from envgen.service.guard import Rules
from envgen.service.metrics import Metrics
from envgen.service.state import Service
from envgen.service.worker import Worker
from spadekit.errors import BadInput
from spadekit.report import Report
from spadekit.settings import Settings

STOP_S = 60.0
"""How long the worker may take to reach a safe point; whatever it does is safe against being killed."""
DRAIN_S = 10
"""How long requests that are being answered may still take when the service stops."""
CONNECTIONS = 1000


def serve(
    home: Path,
    run: str,
    settings: Settings,
    report: Report,
    *,
    host: str,
    port: int,
    token: str,
) -> None:
    """Serve a home until SIGTERM or SIGINT.

    Raises ``BadInput`` for an address that cannot be used, or that others can reach while there is no
    token, before anything is opened; then whatever opening the home raises. A worker that dies takes
    the service with it and its error is raised.
    """
    listening = bind(host, port, token)
    config, metrics = settings.section(ServiceConfig), Metrics()
    with listening:
        server: Server | None = None

        def worker_ended() -> None:
            if server is not None:
                server.should_exit = True

        worker = Worker(home, run, settings, report, metrics, on_end=worker_ended)
        rules = Rules.of(host, config.hosts, token)
        service = Service(worker.start(), worker, metrics, rules, config)
        server = Server(
            uvicorn.Config(
                make_app(service),
                lifespan="on",
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=CONNECTIONS,
                timeout_graceful_shutdown=DRAIN_S,
            ),
            before_end=worker.feed.close,
        )
        url = address_of(listening)
        report.note(f"serving {home} at {url} (documentation at {url}/docs); Ctrl-C ends it")
        if report.as_json:
            report.data({"url": url, "run": run})
        server.run(sockets=[listening])
    if worker.error is not None:
        raise worker.error
    if not worker.stop(STOP_S):
        report.note("the worker did not stop in time; what it was doing goes on at the next start")
    report.note("stopped; the same command goes on from here")


class Server(uvicorn.Server):
    """uvicorn, but a signal means an orderly end and not also the death of the process."""

    def __init__(self, config: uvicorn.Config, before_end: Callable[[], None]) -> None:
        super().__init__(config)
        self._before_end = before_end

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM while the block runs."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._told) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then let what is being answered finish."""
        self._before_end()
        await super().shutdown(sockets)

    def _told(self, number: int, _: FrameType | None) -> None:
        self.force_exit = self.should_exit and number == signal.SIGINT
        self.should_exit = True


def bind(host: str, port: int, token: str) -> socket.socket:
    """Return a listening socket. Raises ``BadInput``."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise BadInput(f"--host {host}: no such address ({error})") from None
    family, address = found[0], found[4]
    if not token and not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
        raise BadInput(
            f"--host {host} can be reached from other machines: give a token with --token-file or "
            "SPADEWORK_TOKEN, or bind to 127.0.0.1"
        )
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise BadInput(f"port {port} of {host} is in use; choose another with --port") from None
        raise BadInput(f"cannot listen at {host}, port {port}: {error.strerror}") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
