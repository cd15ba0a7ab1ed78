"""The settings of the memory: duplicate thresholds, embedding model and upkeep."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class MemoryConfig:
    """Section ``[memory]`` of a recipe.

    ``uri``: where the store lies, a folder or ``s3://bucket/folder`` ("": ``store`` in the home).
    ``duplicate_jaccard``: share of equal 5-token shingles at and above which a design is a variant
    of its neighbour (0.70: duplicates measured at 0.74 and more, other pairs at 0.61 and less).
    ``keep_variants``: admit designs with the structure of a known one when they behave differently.
    ``measure_meaning``: embed designs during a round and compare what they are about.
    ``novelty_bar``: a design is refused as not new only when its nearest meaning is at least this
    close (cosine), and never with ``keep_variants``.
    ``embed_model``: ``packaged`` (MiniLM from PyPI, no hub needed), the name of any
    sentence-transformers model, or a folder with one. ``embed_batch``: texts per batch.
    ``fresh_s``: a reader sees others' writes after at most this many seconds.
    ``exact_below``: rows under which search is exact. ``compact_every``: commits to a table
    between two compactions. ``collapse_below``: Vendi
    score / n of a shard under which ``stats`` raises the alarm.
    """

    uri: str = field(default="", compare=False)  # where records lie does not change them
    duplicate_jaccard: float = 0.70
    keep_variants: bool = False
    measure_meaning: bool = True
    novelty_bar: float = 0.98
    embed_model: str = "packaged"
    embed_batch: int = 32
    fresh_s: float = 1.0
    exact_below: int = 50_000
    compact_every: int = 64
    collapse_below: float = 0.2

    def __post_init__(self) -> None:
        for name in ("duplicate_jaccard", "novelty_bar", "collapse_below"):
            value = getattr(self, name)
            if not 0.0 < value <= 1.0:
                raise ValueError(f"{name} = {value} must lie in (0, 1]")
        for name in ("embed_batch", "exact_below", "compact_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.fresh_s < 0:
            raise ValueError("fresh_s must not be negative")
        if not self.embed_model:
            raise ValueError("embed_model is empty; write `packaged` or the name of a model")

    def place(self, home: Path) -> str:
        """Return where the store of a home lies."""
        return self.uri or str(home / "store")
