"""The publish section of a recipe."""

import re
from dataclasses import dataclass
from typing import Literal

LICENCES = (
    "CC0-1.0",
    "PDDL-1.0",
    "public-domain",
    "CC-BY-3.0",
    "CC-BY-4.0",
    "CC-BY-SA-3.0",
    "CC-BY-SA-4.0",
    "ODC-BY-1.0",
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
)
_LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*")


@dataclass(frozen=True)
class PublishConfig:
    """``[publish]``: what a release on the Hugging Face Hub holds and says."""

    licence: str = "apache-2.0"
    """The licence of the release, as the Hub spells licences. Documents keep their own."""
    document_licences: tuple[str, ...] = LICENCES
    """A document's text goes along when its licence is one of these; of others only the id does."""
    plays: int = 2
    """Plays of each environment and arm that go along, drawn by ``seed``; 0: none, -1: all."""
    seed: int = 0
    benchmarks: tuple[str, ...] = ("reasoning-gym", "rlve-gym", "bfcl")
    """Questions that no environment may hold: `reasoning-gym`, `rlve-gym` and `bfcl` where these
    packages are installed, and .jsonl files whose rows have `question`, `prompt`, `problem` or `text`."""
    overlap: float = 0.6
    """An environment holds a question when it has this share of the question's runs of eight words."""
    contaminated: Literal["leave out", "report"] = "leave out"
    """What becomes of an environment that holds a question of a benchmark."""
    patience_s: float = 60.0
    """How long a broken connection or a rate limit is waited out before the command gives up."""

    def __post_init__(self) -> None:
        if not _LICENCE.fullmatch(self.licence):
            raise ValueError(
                f"licence = {self.licence!r}: spell it as the Hub does, such as apache-2.0"
            )
        if self.plays < -1:
            raise ValueError("plays must be -1 (all), 0 (none) or more")
        if not 0.0 < self.overlap <= 1.0:
            raise ValueError("overlap must lie in (0, 1]")
        if self.patience_s < 0:
            raise ValueError("patience_s must not be negative")
