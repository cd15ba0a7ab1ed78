"""The two kinds of fault that leave the sandbox, and who owns each.

Exception
├── EnvironmentFault   the environment's: data about a program, recorded and counted
└── SandboxFault       ours or the host's (an ``OurFault``): says nothing about the environment
"""

from typing import Final

from spadekit.errors import OurFault

REPLACEMENT: Final = "\ufffd"
STAGES: Final = ("load", "reset", "step", "solution", "episode")
REASONS: Final = ("timeout", "memory", "crashed", "contract", "oversize", "protocol", "raised")
DETAIL_CHARS: Final = 400


def printable(text: str) -> str:
    """Return hostile text as one line that cannot steer a terminal."""
    line = " ".join(text.split())
    return (
        line if line.isprintable() else "".join(c if c.isprintable() else REPLACEMENT for c in line)
    )


class EnvironmentFault(Exception):
    """The environment did something it may not do.

    ``stage`` is one of ``STAGES``, ``reason`` one of ``REASONS``; ``detail`` is one short line that
    teaches the author what to mend. It may quote the environment's own (hostile) text, in which
    characters that cannot be printed are replaced.
    """

    def __init__(self, stage: str, reason: str, detail: str) -> None:
        if stage not in STAGES or reason not in REASONS:
            raise ValueError(f"unknown stage {stage!r} or reason {reason!r}")
        self.stage = stage
        self.reason = reason
        self.detail = printable(detail)[:DETAIL_CHARS]
        super().__init__(stage, reason, self.detail)

    def __str__(self) -> str:
        return f"{self.stage}: {self.reason}: {self.detail}"


class SandboxFault(OurFault):
    """The sandbox itself cannot do its work; the message names the layer and how to get it."""
