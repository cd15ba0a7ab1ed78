"""One line of the throughput table."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Row:
    """``value`` in ``unit`` over ``n`` repetitions, and that of a ``peer`` where there is one."""

    part: str
    measure: str
    value: float
    unit: str
    n: int
    peer: str = ""
    peer_value: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours divided by the peer's."""
        return self.value / self.peer_value if self.peer_value else None
