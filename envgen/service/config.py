"""The section ``[service]`` of a recipe."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ServiceConfig:
    """What the service keeps up and what it allows."""

    stock: int = 48
    """Frontier environments to hold for the newest policy version; 0: only what jobs ask for."""
    barren: int = 4
    """Give up filling the stock after this many rounds in a row that added nothing to it, until there
    is another policy version."""
    watch_s: float = 2.0
    """How often the policy directory is looked at."""
    retry_s: float = 30.0
    """Wait before trying again after a failure of the stock's own work; doubled each time, at most an
    hour."""
    queue: int = 64
    """Most jobs waiting; more are refused."""
    keep: int = 1000
    """Finished jobs that the journal still knows after a restart."""
    streams: int = 128
    """Most event streams open at once."""
    hosts: tuple[str, ...] = ()
    """Names beside `localhost` and addresses that requests may be made to: those of a proxy."""

    def __post_init__(self) -> None:
        for name, least in (("stock", 0), ("barren", 1), ("queue", 1), ("keep", 1), ("streams", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}")
        if not self.watch_s > 0 or not self.retry_s > 0:
            raise ValueError("watch_s and retry_s must be above 0")
        for host in self.hosts:
            if not host or ":" in host or "/" in host:
                raise ValueError(f"hosts: {host!r} is not a bare host name")
