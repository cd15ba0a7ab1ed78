"""The designer's sections of a recipe."""

import math
from dataclasses import dataclass, field
from typing import Literal

from envgen.corpus.config import CorpusConfig
from envgen.designer import HintSource
from envgen.reward import Kind
from envgen.skills import GAME_SKILLS, SKILLS, TOOL_SKILLS

__all__ = [
    "CorpusConfig",
    "DesignerConfig",
    "MonitorConfig",
    "ProbeConfig",
    "ProducerConfig",
    "RewardConfig",
]


MOST_DESIGNS = 100_000
"""Of one round: its briefs are made before it begins, and its designs are in memory until its end."""
MOST_CERTIFICATES = 4_096
"""At once: each is in a jail of its own, and no more are kept or started at once either."""


@dataclass(frozen=True)
class DesignerConfig:
    """``[designer]``: what is asked for, and how completions are sampled."""

    prompt: Literal["short", "full"] = "full"
    temperature: float = 0.6
    top_p: float = 1.0
    top_k: int = 0
    """See `[solver]`: training on designs needs 1 and 0."""
    max_tokens: int = 16384
    skills: tuple[str, ...] = GAME_SKILLS + TOOL_SKILLS
    levels: tuple[int, ...] = (1, 2, 3, 4, 5)
    difficulty: Literal["even", "adaptive", "own"] = "adaptive"
    """How a brief's level is drawn from ``levels``: evenly, or where the solver is expected to win half of
    its plays, skills that have such a level more often (see ``envgen.levels``). ``own``: briefs name
    none, and what the designer is paid is all that tells it how hard a task should be."""
    memory: bool = True
    """Show frontier environments as examples, mastered or hopeless ones as things to avoid, and what
    designs were refused for lately."""
    examples: int = 2
    avoid: int = 2
    failures: int = 5
    """Most messages of refused designs that a full prompt shows."""
    repair_turns: int = 0
    """Follow-ups that show a refused design's author what the check said."""
    hint: HintSource = "inline"
    """`separate`: a second prompt shows the program and asks for its hint, which is not trained on."""
    learning: Literal["weights", "context"] = "weights"
    """`context`: the designer learns from a playbook of past rounds in its prompt; for frozen weights."""

    def __post_init__(self) -> None:
        if not self.skills:
            raise ValueError("skills is empty; name at least one skill")
        unknown = [skill for skill in self.skills if skill not in SKILLS]
        if unknown:
            raise ValueError(f"unknown skill {unknown[0]!r}; known: {', '.join(SKILLS)}")
        if not self.levels or not all(1 <= level <= 5 for level in self.levels):
            raise ValueError("levels must be a list of numbers from 1 to 5")
        if min(self.examples, self.avoid, self.failures, self.repair_turns) < 0:
            raise ValueError("examples, avoid, failures and repair_turns must not be negative")
        if self.prompt == "short" and self.learning == "context":
            raise ValueError(
                'learning = "context" needs prompt = "full": the short prompt has no room for a playbook'
            )
        if self.prompt == "short" and self.hint == "separate":
            raise ValueError(
                'hint = "separate" needs prompt = "full": the short prompt is for a policy that was '
                "taught to end a design with its hint"
            )
        if not 0 < self.temperature < math.inf:
            raise ValueError(
                "temperature must be above 0: a greedy designer writes one design only"
            )
        if not 0 < self.top_p <= 1 or self.top_k < 0:
            raise ValueError("top_p must lie above 0, at most at 1, and top_k must not be negative")
        if self.max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")


@dataclass(frozen=True)
class ProbeConfig:
    """``[probe]``: how an environment's regret is measured."""

    plays: int = 16
    """Most plays per arm, one per seed; both arms play the same seeds."""
    error: float = 0.03
    """Stop when all plays that are left would change the status with at most this probability; 0:
    every play is made."""
    max_parallel: int = 512
    """Episodes in flight over all environments of a round."""
    max_fault_share: float = 0.25
    """An environment that faults in more of its plays than this is refused."""

    def __post_init__(self) -> None:
        if not 1 <= self.plays <= 16:
            raise ValueError("plays must be between 1 and 16 per arm")
        if not 0 <= self.error < 0.5:
            raise ValueError("error must be at least 0 and below 0.5")
        if self.max_parallel < 1:
            raise ValueError("max_parallel must be at least 1")
        if not 0 <= self.max_fault_share < 1:
            raise ValueError("max_fault_share must be at least 0 and below 1")


@dataclass(frozen=True)
class RewardConfig:
    """``[reward]``: what the designer is paid."""

    kind: Kind = "blend"


@dataclass(frozen=True)
class MonitorConfig:
    """``[monitors]``: shares above which a shard raises an alarm; see ``envgen.monitors``."""

    no_tool_call: float = 0.0
    one_turn: float = 0.25
    garbage: float = 0.02
    hint_only: float = 0.34

    def __post_init__(self) -> None:
        for name in ("no_tool_call", "one_turn", "garbage", "hint_only"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a share: between 0 and 1")


@dataclass(frozen=True)
class ProducerConfig:
    """``[producer]``: the size of a round."""

    seed: int = 0
    designs: int = 24
    designs_per_brief: int = 4
    """Completions of one brief: a GRPO group of the designer."""
    parallel_certificates: int = 4
    """Certificates at once; with `--workers ray` on each worker."""
    guessable: float = 0.1
    """How often the answer of one seed may be right on another, where a play is one answer."""
    in_flight: int = 128
    """Designs on their way at once, from the first token to the last play: where certificates or plays
    are slow, no more designs are begun."""
    ray_address: str = field(default="auto", compare=False)
    """HOST:PORT of the head of a Ray cluster, for `--workers ray`; `auto`: one that runs on this
    machine."""

    def __post_init__(self) -> None:
        for name in ("designs", "designs_per_brief", "parallel_certificates", "in_flight"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.designs > MOST_DESIGNS:
            raise ValueError(f"designs = {self.designs}: a round has at most {MOST_DESIGNS}")
        if self.parallel_certificates > MOST_CERTIFICATES:
            raise ValueError(f"parallel_certificates must be at most {MOST_CERTIFICATES}")
        if not 0 < self.guessable <= 1:
            raise ValueError("guessable must be above 0 and at most 1")
        if self.designs % self.designs_per_brief:
            raise ValueError(
                f"designs = {self.designs} is not a multiple of "
                f"designs_per_brief = {self.designs_per_brief}; a group would be cut short"
            )
