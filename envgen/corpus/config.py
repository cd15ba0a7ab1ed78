"""The corpus section of a recipe."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CorpusConfig:
    """``[corpus]``: which documents ground the briefs.

    A path is ``builtin``, ``none``, a .jsonl or .parquet file, a folder of such files or of .md and
    .txt files, or a data set of the Hub as ``hf://USER/NAME`` or ``hf://USER/NAME@REVISION``.
    """

    path: str = "builtin"
    """Documents for games, and for tools too unless ``tools_path`` names others. ``builtin`` has some
    of its own for each."""
    tools_path: str = ""
    """Documents on programming interfaces, for tool-use briefs; empty: those of ``path``."""
    seed: int = 0
    """Decides the order in which documents are drawn."""
    max_tokens: int = 8000
    """Longer documents are cut after this many tokens of the policy. That is what the paper's limits
    come to, 6,000 words of prose and 4,000 of documentation with code."""

    def __post_init__(self) -> None:
        if not self.path:
            raise ValueError("path is empty; write builtin, none, or the path of a folder or file")
        if self.max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")
