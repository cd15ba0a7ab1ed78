"""The corpus section of a recipe."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CorpusConfig:
    """``[corpus]``: which documents ground the briefs."""

    path: str = "builtin"
    """``builtin``, ``none``, a folder of .md and .txt files, or a .jsonl file."""
    seed: int = 0
    """Decides the order in which documents are drawn."""
    max_words: int = 6000
    """Longer documents are cut after this many words (the paper's limit for games)."""

    def __post_init__(self) -> None:
        if not self.path:
            raise ValueError("path is empty; write builtin, none, or the path of a folder or file")
        if self.max_words < 1:
            raise ValueError("max_words must be at least 1")
