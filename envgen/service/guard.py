"""Who may call, and how much they may send: checked before anything else sees a request.

every request      its Host is `localhost`, an address, or a name that was configured (no DNS rebinding)
every request      a body of at most ``MAX_BODY`` bytes
whatever changes   `X-Spadework: 1`, no foreign Origin, not sent by another site's page (no CSRF)
whatever changes   the token, where there is one

Reading needs no token: whoever can reach the address may read.
"""

import hmac
import ipaddress
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 1 << 20
"""Bytes of a request's body."""
HEADER = "x-spadework"
SAFE = ("GET", "HEAD", "OPTIONS")
API_POLICY = "default-src 'none'; frame-ancestors 'none'"
ALWAYS = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
    b"content-security-policy": API_POLICY.encode(),
}
"""Headers of every answer that does not set them itself."""


@dataclass(frozen=True)
class Refusal:
    """Why a request goes no further."""

    status: int
    detail: str


@dataclass(frozen=True)
class Rules:
    """What is allowed. ``hosts``: names beside addresses; ``token`` "" asks for none."""

    hosts: frozenset[str]
    token: str = ""

    @classmethod
    def of(cls, host: str, more: Iterable[str], token: str) -> "Rules":
        """Return the rules of a service bound to ``host``."""
        return cls(frozenset(name.lower() for name in ("localhost", host, *more)), token)

    def judge(self, method: str, headers: Mapping[str, str]) -> Refusal | None:
        """Return why a request is refused, None when it may pass. Header names are lower case."""
        host = headers.get("host", "")
        if not self._known(host):
            return Refusal(
                421, "this host name is not served here; add it to service.hosts if it should be"
            )
        if method in SAFE:
            return None
        site = headers.get("sec-fetch-site", "none")
        origin = headers.get("origin")
        if site not in ("same-origin", "none") or (
            origin is not None and origin.lower() not in _origins(host)
        ):
            return Refusal(403, "requests from pages of another site are refused")
        if headers.get(HEADER) != "1":
            return Refusal(
                403, "send the header `X-Spadework: 1` with requests that change something"
            )
        if self.token and not self._has_token(headers.get("authorization", "")):
            return Refusal(401, "send the service's token as `Authorization: Bearer TOKEN`")
        return None

    def _known(self, host: str) -> bool:
        name = _name(host)
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self.hosts
        return True

    def _has_token(self, header: str) -> bool:
        scheme, _, given = header.partition(" ")
        same = hmac.compare_digest(given.strip().encode(), self.token.encode())
        return scheme.lower() == "bearer" and same


def _name(host: str) -> str:
    """Return the name or address of a Host header, without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _origins(host: str) -> tuple[str, str]:
    """Return the origins of pages of our own: behind a proxy the scheme is https."""
    host = host.strip().lower()
    return f"http://{host}", f"https://{host}"


class Guard:
    """The ASGI application that asks the rules and passes on what they allow."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the application answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        refusal = self._rules.judge(scope["method"], headers) or _length(headers)
        if refusal:
            await _drain(receive)
            await _answer(send, refusal)
            return
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MAX_BODY:  # it came without its length
                raise HTTPException(_TOO_LARGE.status, _TOO_LARGE.detail)
            return message

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _with_defaults(message.get("headers", ()))}
            await send(message)

        await self._app(scope, limited, marked)


_TOO_LARGE = Refusal(413, f"the body is larger than {MAX_BODY} bytes")


def _length(headers: Mapping[str, str]) -> Refusal | None:
    length = headers.get("content-length", "0")
    sane = length.isdecimal() and len(length) < 16
    return None if sane and int(length) <= MAX_BODY else _TOO_LARGE


async def _drain(receive: Receive) -> None:
    """Take what is being sent, within reason: who cannot finish sending may not hear the answer."""
    taken, more = 0, True
    while more and taken <= 16 * MAX_BODY:
        message = await receive()
        taken += len(message.get("body", b""))
        more = message["type"] == "http.request" and message.get("more_body", False)


def _with_defaults(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    given = list(headers)
    names = {name.lower() for name, _ in given}
    return given + [(name, value) for name, value in ALWAYS.items() if name not in names]


async def _answer(send: Send, refusal: Refusal) -> None:
    body = json.dumps({"detail": refusal.detail}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.status == _TOO_LARGE.status:
        headers.append((b"connection", b"close"))
    start: dict[str, Any] = {
        "type": "http.response.start",
        "status": refusal.status,
        "headers": _with_defaults(headers),
    }
    await send(start)
    await send({"type": "http.response.body", "body": body})
