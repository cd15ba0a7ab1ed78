"""Keeps the stock: looks at the standings, asks the pure rule, remembers failures and barren rounds."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from envgen.service.config import ServiceConfig
from envgen.service.jobs import Job, Kind
from envgen.service.stock import Design, Measure, Rest, Stock, next_action, pause_s, take_stock
from memory import StandingRecord, Store
from spadekit.errors import BadInput


@dataclass(frozen=True)
class Wanted:
    """A job that the stock needs."""

    kind: Kind
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StockStatus:
    """What the keeper knows. ``doing``: ``off full barren ahead waiting measuring designing looking``."""

    level: int
    stock: Stock | None
    doing: str
    barren_rounds: int
    failures: int
    problem: str


class Keeper:
    """Used by the worker's thread; ``status`` may be read by any."""

    def __init__(self, config: ServiceConfig) -> None:
        self._config = config
        self._seen: tuple[object, int] | None = None
        self._stock: Stock | None = None
        self._before: Stock | None = None
        """The stock before the last round of designs."""
        self._barren = self._failures = 0
        self._wait_until = 0.0
        self._problem = ""
        self.status = StockStatus(config.stock, None, "looking", 0, 0, "")

    def next(
        self, store: Store, version: int, ahead: Callable[[], bool] = lambda: False
    ) -> Wanted | None:
        """Return the job that the stock of ``version`` needs now, None when there is nothing to do.

        ``ahead`` says whether a trainer has to come nearer before another round is designed.
        """
        if not self._config.stock or time.monotonic() < self._wait_until:
            self._show("waiting" if self._config.stock else "off")
            return None
        try:
            stock = self._look(store, version)
            action = next_action(
                stock,
                level=self._config.stock,
                barren_rounds=self._barren,
                most_barren=self._config.barren,
            )
            waits = isinstance(action, Design) and ahead()
        except BadInput as error:
            self._fail(str(error))
            return None
        match action:
            case Rest(reason):
                self._show(reason)
                return None
            case Measure(environments):
                self._show("measuring")
                values = {"environments": environments, "policy_version": version}
                return Wanted("measure", values)
            case Design() if waits:
                self._show("ahead")
                return None
            case Design():
                self._before = stock
                self._show("designing")
                return Wanted("generate", {"rounds": 1})

    def ended(self, job: Job) -> None:
        """Hear how a job of the stock ended."""
        if job.state == "done":
            self._failures, self._problem = 0, ""
        elif job.state == "failed":
            self._fail(job.message)
        else:
            # Whoever cancels it wants it to rest.
            self._before = None
            self._wait_until = time.monotonic() + self._config.retry_s

    def _look(self, store: Store, version: int) -> Stock:
        latest = store.latest_standings()
        seen = self._seen is not None and self._seen[0] is latest and self._seen[1] == version
        if self._stock is not None and seen and self._before is None:
            return self._stock
        rows: Iterable[StandingRecord] = latest.values()
        if any(one.policy_version > version for one in rows):
            rows = store.latest_standings(version).values()
        if self._stock is not None and self._stock.policy_version != version:
            self._barren, self._before = 0, None
        self._seen = (latest, version)
        self._stock = take_stock(rows, version)
        if self._before is not None:
            gained = self._stock.held > self._before.held
            self._barren = 0 if gained else self._barren + 1
            self._before = None
        return self._stock

    def _fail(self, problem: str) -> None:
        self._failures += 1
        self._problem = problem
        self._before = None
        pause = pause_s(self._failures, self._config.retry_s)
        self._wait_until = time.monotonic() + pause
        self._show("waiting")

    def _show(self, doing: str) -> None:
        self.status = StockStatus(
            self._config.stock, self._stock, doing, self._barren, self._failures, self._problem
        )
