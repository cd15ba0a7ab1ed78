"""``spadework bench throughput``: how fast each part is, against a plain peer in the same run."""

from bench.throughput.row import Row
from bench.throughput.run import run

__all__ = ["Row", "run"]
