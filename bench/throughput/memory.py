"""The memory: writers and kills, publishing and search at scale, and the filter of duplicates."""

import tempfile
from pathlib import Path

from bench.config import MemoryBenchConfig
from bench.memory import crowd, duplicates, scale
from bench.throughput.row import Row


def measure(config: MemoryBenchConfig, home: Path) -> list[Row]:
    """Return all rows; what is written lies in a folder of ``home`` and is removed."""
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-memory.", dir=home) as name:
        folder = Path(name)
        rows = duplicates.measure(config.environments)
        rows += crowd.writers(folder, config.writers, config.publications)
        rows += crowd.kills(folder, config.kills)
        if config.vectors:
            rows += scale.vectors(folder, config.vectors)
        return rows + scale.environments(folder, config.environments, config.commits)
