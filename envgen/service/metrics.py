"""What Prometheus reads: requests, jobs, what rounds made, the stock, policy versions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from envgen.service.jobs import Job
from memory import StandingRecord

if TYPE_CHECKING:
    from envgen.service.keeper import StockStatus
    from envgen.service.worker import Serving

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class Metrics:
    """One registry of its own, so that two services in one process do not mix. Threads may share it."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self.requests = self._counter(
            "http_requests", "Requests answered.", "method", "route", "status"
        )
        self.request_seconds = Histogram(
            "spadework_http_request_seconds",
            "Seconds from a request to the start of its answer.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._streams = self._gauge("http_streams", "Event streams open.")
        self.streams_open = 0
        self.running = self._gauge("jobs_running", "Jobs being done: 0 or 1.")
        self._waiting = self._gauge("jobs_waiting", "Jobs that wait.")
        self._ended = self._counter("jobs_ended", "Jobs that ended.", "kind", "origin", "state")
        self._rounds = self._counter("rounds", "Rounds published.")
        self._designs = self._counter("designs", "Designs of published rounds.", "outcome")
        self._plays = self._counter("plays", "Plays of published rounds.")
        self._tokens = self._counter("sampled_tokens", "Tokens sampled in published rounds.")
        self._measured = self._counter(
            "measured_environments", "Environments measured again.", "status"
        )
        self._level = self._gauge("stock_level", "Frontier environments to be held.")
        self._stock = self._gauge("stock_environments", "Frontier environments there are.", "state")
        self._failures = self._gauge("stock_failures", "Failures of the stock's work in a row.")
        self._version = self._gauge("policy_version", "Policy versions.", "which")
        self._refused = self._gauge("policy_refused", "1 while the target version cannot serve.")

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Count one more open event stream while the block runs. For the web's loop only."""
        self.streams_open += 1
        self._streams.set(self.streams_open)
        try:
            yield
        finally:
            self.streams_open -= 1
            self._streams.set(self.streams_open)

    def text(self) -> bytes:
        """Return everything in the text format."""
        return generate_latest(self.registry)

    def state(self, jobs: Iterable[Job], serving: "Serving", stock: "StockStatus") -> None:
        """Show where things stand."""
        self._waiting.set(sum(job.state == "queued" for job in jobs))
        self._version.labels("serving").set(serving.serving)
        self._version.labels("target").set(serving.target)
        self._version.labels("newest").set(serving.newest)
        self._refused.set(bool(serving.problem))
        self._level.set(stock.level)
        self._failures.set(stock.failures)
        if stock.stock is not None:
            self._stock.labels("held").set(stock.stock.held)
            self._stock.labels("stale").set(len(stock.stock.stale))

    def ended(self, job: Job) -> None:
        """Count a job that ended."""
        self._ended.labels(job.kind, job.origin, job.state).inc()

    def round(self, summary: Mapping[str, Any]) -> None:
        """Count what a published round made."""
        self._rounds.inc()
        refused = summary["designs"]
        for outcome, name in (
            ("admitted", "admitted"),
            ("duplicate", "duplicates"),
            ("faulted", "faulted"),
        ):
            self._designs.labels(outcome).inc(summary[name])
            refused -= summary[name]
        self._designs.labels("refused").inc(refused)
        self._plays.inc(summary["plays"])
        self._tokens.inc(summary["tokens"])

    def measured(self, standings: Sequence[StandingRecord]) -> None:
        """Count environments measured again."""
        for one in standings:
            self._measured.labels(one.status).inc()

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"spadework_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"spadework_{name}", text, labels, registry=self.registry)
