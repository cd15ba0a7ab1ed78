"""One HTTP endpoint with a model behind it: bounded, patient, counted.

Whose fault an answer is decides what happens to it:

    no connection, time-out, 5xx, broken JSON   the server's or ours: tried again, never scored
    429, 503 with Retry-After                   a rate limit: everybody waits as long as it says
    any other 4xx                               :class:`Refused`, for the engine to judge

A request is given up (``OurFault``) when the server has answered nobody for ``outage_s``, when it is
told to wait longer than that, or when the server has failed on this very request ``MOST_ERRORS`` times.
"""

import asyncio
import email.utils
import json
import os
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from solver.config import PolicyConfig
from solver.policy import Bill
from spadekit.errors import BadInput, OurFault

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 20.0
CONNECT_S = 10.0
MOST_ERRORS = 6
BUSY = frozenset({408, 409, 425, 429})
"""Statuses below 500 that another try may change."""


class Refused(Exception):
    """The server understood and said no: ``status`` (400 to 499) and its ``message``."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status, self.message = status, message


class _Trouble(Exception):
    """A try that failed without anybody having said no.

    ``wait_s`` is what the server asked for; ``error`` says that it broke down over this request.
    """

    def __init__(self, what: str, wait_s: float | None = None, error: bool = False) -> None:
        super().__init__(what)
        self.wait_s, self.error = wait_s, error


@dataclass
class Traffic:
    """What went over the wire since the engine was opened."""

    requests: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens that the server says it found in its prefix cache."""
    completion_tokens: int = 0

    def count(self, usage: Any) -> None:
        """Add what an answer says it took, where it says so."""
        if not isinstance(usage, dict):
            return
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else None
        self.prompt_tokens += _tokens(usage.get("prompt_tokens"))
        self.completion_tokens += _tokens(usage.get("completion_tokens"))
        self.cached_tokens += _tokens(cached)

    def cost(self, config: PolicyConfig) -> float | None:
        """What the tokens cost at the configured prices; None where there are none."""
        if not (config.input_price or config.output_price):
            return None
        millions = (
            self.prompt_tokens * config.input_price + self.completion_tokens * config.output_price
        )
        return millions / 1e6

    def bill(self, config: PolicyConfig) -> Bill:
        """Tokens and cost."""
        return Bill(self.prompt_tokens, self.completion_tokens, self.cost(config))

    def line(self, config: PolicyConfig) -> str:
        """Say it in one line."""
        cached = f" ({self.cached_tokens:,} cached)" if self.cached_tokens else ""
        cost = self.cost(config)
        return (
            f"{config.url}: {self.requests:,} requests, {self.retries:,} tried again, "
            f"{self.prompt_tokens:,} prompt tokens{cached}, {self.completion_tokens:,} sampled"
            + ("" if cost is None else f", cost {cost:.4f}")
        )


class Endpoint:
    """A client for ``config.url``. Raises ``BadInput`` for a URL or a key that cannot be used."""

    def __init__(self, config: PolicyConfig) -> None:
        self.config = config
        self.traffic = Traffic()
        try:
            url = httpx2.URL(config.url.rstrip("/"))
        except httpx2.InvalidURL as error:
            raise BadInput(f"policy.url = {config.url!r} cannot be read: {error}") from None
        if url.scheme not in ("http", "https") or not url.host:
            raise BadInput(f"policy.url = {config.url!r} must begin with http:// or https://")
        self.url = str(url)
        self._client = httpx2.AsyncClient(
            headers=_key(config.key_variable),
            timeout=httpx2.Timeout(config.timeout_s, connect=CONNECT_S, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=config.in_flight),
            # A proxy of the surroundings is for the world outside, never for this machine.
            trust_env=url.host not in ("localhost", "127.0.0.1", "::1"),
        )
        self._slots = asyncio.Semaphore(config.in_flight)
        self._jitter = random.Random()  # when a request is tried again changes no result
        self._not_before = 0.0
        self._answered = 0.0
        self._asking = 0
        self._busy_s = 0.0
        self._busy_since = 0.0

    @property
    def busy_seconds(self) -> float:
        """Seconds during which at least one request was being answered."""
        return self._busy_s + (time.monotonic() - self._busy_since if self._asking else 0.0)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def once(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        timeout_s: float | None = None,
        tries: int = 1,
    ) -> Any:
        """Ask without patience and return the answer's JSON.

        Only a try that got no answer at all is made again, up to ``tries`` in all: a server may close
        a connection that it kept open. Raises ``Refused``, or ``OurFault`` for the rest.
        """
        while True:
            tries -= 1
            try:
                return await self._ask(method, path, body, timeout_s)
            except _Trouble as trouble:
                if trouble.error or tries < 1:
                    raise OurFault(f"{self.url}{path}: {trouble}") from trouble
            await asyncio.sleep(FIRST_PAUSE_S)

    async def patient(
        self,
        path: str,
        body: Any,
        *,
        method: str = "POST",
        before_retry: Callable[[], Awaitable[None]] | None = None,
    ) -> Any:
        """Ask until there is an answer and return its JSON; see the module for when it gives up.

        ``before_retry`` is awaited after a failed try: a server that came back may not be the one
        that went.
        """
        began, tries, errors = time.monotonic(), 0, 0
        while True:
            try:
                async with self._slots:
                    await self._cool()
                    with self._counted():
                        return await self._ask(method, path, body, None)
            except _Trouble as trouble:
                tries += 1
                errors += trouble.error
                pause = self._pause(trouble, tries)
                silent = time.monotonic() + pause - max(began, self._answered)
                if silent > self.config.outage_s or errors >= MOST_ERRORS:
                    raise OurFault(
                        f"{self.url}{path}: {trouble}; given up after {tries} tries. Nothing was "
                        "scored: once the server answers, the same command goes on"
                    ) from trouble
                self.traffic.retries += 1
            await asyncio.sleep(pause)
            if before_retry is not None:
                await before_retry()

    def _pause(self, trouble: _Trouble, tries: int) -> float:
        """Seconds to wait before the next try; a rate limit makes everybody wait."""
        if trouble.wait_s is not None:
            self._not_before = max(self._not_before, time.monotonic() + trouble.wait_s)
            return trouble.wait_s
        most = most_pause_s(tries)
        return self._jitter.uniform(most / 4, most)

    async def _cool(self) -> None:
        """Wait for a rate limit to pass; not all to the same moment."""
        left = self._not_before - time.monotonic()
        if left > 0:
            await asyncio.sleep(left + self._jitter.uniform(0, min(1.0, left / 4)))
            await self._cool()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        if not self._asking:
            self._busy_since = time.monotonic()
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._busy_s += time.monotonic() - self._busy_since

    async def _ask(self, method: str, path: str, body: Any, timeout_s: float | None) -> Any:
        self.traffic.requests += 1
        limit = httpx2.USE_CLIENT_DEFAULT if timeout_s is None else timeout_s
        try:
            answer = await self._client.request(
                method, self.url + path, json=body, timeout=limit, follow_redirects=False
            )
        except httpx2.TimeoutException as error:
            raise _Trouble(f"no answer in time ({type(error).__name__})") from error
        except httpx2.HTTPError as error:
            raise _Trouble(
                f"{type(error).__name__}: {error}" if str(error) else repr(error)
            ) from error
        status = answer.status_code
        if 200 <= status < 300:
            try:
                value = answer.json() if answer.content else None
            except ValueError as error:
                raise _Trouble(f"the answer is not JSON ({error})", error=True) from error
            if isinstance(value, dict) and value.get("error"):
                # Some gateways pass on what went wrong behind them with status 200.
                raise _Trouble(_message(answer), error=True)
            self._answered = time.monotonic()
            return value
        message = _message(answer)
        if status in BUSY or status >= 500:
            if status == 429 and "insufficient_quota" in answer.text:
                raise Refused(status, message)
            wait_s = _retry_after(answer.headers.get("retry-after"))
            raise _Trouble(f"{status}: {message}", wait_s, error=status >= 500 and wait_s is None)
        raise Refused(status, message)


def most_pause_s(tries: int) -> float:
    """Return the most seconds to wait after so many tries: doubled each time, up to a bound.

    The exponent is bounded too: a server that is away for hours is tried more often than a float doubles.
    """
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(tries - 1, 20))


def _tokens(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _key(variable: str) -> dict[str, str]:
    if not variable:
        return {}
    key = os.environ.get(variable, "")
    if not key or not key.isascii() or not key.isprintable():
        raise BadInput(f"policy.key_variable = {variable}: that variable holds no usable key")
    return {"Authorization": f"Bearer {key}"}


def _retry_after(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or a date; None without one."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = email.utils.parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = when.timestamp() - time.time()
    return max(0.0, seconds)


def _message(answer: httpx2.Response) -> str:
    """The server's own words, in one line of at most 300 characters."""
    text = answer.text
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        error = value.get("error", value.get("detail", value.get("message")))
        text = str(error.get("message", error) if isinstance(error, dict) else error or text)
    return " ".join(text.split())[:300] or answer.reason_phrase
