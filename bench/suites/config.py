"""Section ``[suites]``: where the benchmarks' data lie, how many questions, how they are sampled."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class SuitesConfig:
    """``[suites]``. Data is a folder or file of your own, or ``hf://USER/NAME[@REVISION]``.

    A data set without a revision is taken at the commit that the home first saw. ``livecodebench``,
    ``tau2`` and ``acebench``: empty, not measured; the first is four gigabytes, which nobody wants
    unasked, of the others it is what their own programs wrote that is read. ``bfcl``: the folder that
    the wheel of ``bfcl-eval`` was unpacked to; empty: the installed package.

    ``limit``: questions of each suite (0: all), ``samples``: replies to each;
    ``reasoning_gym_each``: questions of each of the hundred tasks. ``temperature``, ``top_p``,
    ``top_k``, ``max_tokens``, ``context``: left out, they are those of ``[solver]``. ``at_once``:
    conversations in flight; ``graders``: jails' processes at work.
    """

    aime_2025: str = "hf://MathArena/aime_2025"
    aime_2026: str = "hf://MathArena/aime_2026"
    gpqa_diamond: str = "hf://Idavidrein/gpqa"
    livecodebench: str = ""
    bfcl: str = ""
    tau2: str = ""
    acebench: str = ""
    limit: int = 0
    samples: int = 1
    reasoning_gym_each: int = 8
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    context: int | None = None
    seed: int = 0
    at_once: int = 32
    graders: int = 2

    def __post_init__(self) -> None:
        for name in ("samples", "reasoning_gym_each", "at_once", "graders"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.limit < 0:
            raise ValueError("limit must not be negative; 0 asks all questions")
        if self.temperature is not None and not (
            self.temperature >= 0 and math.isfinite(self.temperature)
        ):
            raise ValueError("temperature must be 0 or more")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p = {self.top_p} must lie above 0, at most at 1")
        if self.top_k is not None and self.top_k < 0:
            raise ValueError("top_k must not be negative")
        for name in ("max_tokens", "context"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1")
        for name in ("aime_2025", "aime_2026", "gpqa_diamond"):
            if not getattr(self, name):
                raise ValueError(f"{name} is empty; name a folder, a file or hf://USER/NAME")
