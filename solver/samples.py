"""Training samples out of plays and designs, and the reasons why others are left out."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from memory import DesignRecord, PlayRecord
from solver.sequences import sequences

Role = Literal["solver", "designer"]
ROLES: tuple[Role, Role] = ("solver", "designer")
TEXT_ONLY = "text only"
"""Why a design of an engine that gives no token ids is left out."""
TRUNCATED = "likeliest tokens only"
"""Why a design that was sampled with ``top_p`` or ``top_k`` is left out: its log-probabilities are of
another distribution than the one that the trainer moves. Its brief says so (``envgen.draft``)."""


@dataclass(frozen=True)
class Sample:
    """One token sequence with what its sampled part earned.

    ``ids``, ``mask`` and ``logprobs`` run over the whole sequence; the mask is 1 on sampled ids.
    ``group`` says what else was drawn from the same prompt, ``baseline`` whose mean reward an
    advantage is counted from. ``cut``: a reply was cut at its limit, or the context ran out. ``share``
    is its part of the episode: a play may come as one sequence per turn (``solver.sequences``).
    """

    group: str
    baseline: str
    ids: tuple[int, ...]
    mask: tuple[int, ...]
    logprobs: tuple[float, ...]
    reward: float
    temperature: float
    version: int
    cut: bool = False
    share: float = 1.0

    @property
    def tokens(self) -> int:
        """Sampled tokens."""
        return sum(self.mask)


@dataclass(frozen=True)
class Batch:
    """What one role trains on in one step. ``dropped`` counts samples by reason."""

    samples: tuple[Sample, ...]
    dropped: Counter[str] = field(default_factory=Counter)
    dropped_groups: tuple[str, ...] = ()
    """Groups that lost every sample."""

    @property
    def episodes(self) -> float:
        """Plays or designs: a play whose turns are samples of their own counts once."""
        return math.fsum(sample.share for sample in self.samples)


def from_plays(plays: Sequence[PlayRecord]) -> Batch:
    """Group unhinted plays by (environment, seed), which is their baseline too.

    Faulted plays are left out: no losses.
    """
    kept: list[Sample] = []
    dropped: Counter[str] = Counter()
    for play in plays:
        group = f"{play.environment}/{play.seed}"
        if play.arm != "unhinted":
            dropped["hinted"] += 1
        elif play.fault or play.episode_return is None:
            dropped[play.fault or "faulted"] += 1
        elif not any(play.mask):
            dropped["nothing sampled"] += 1
        else:
            kept += [
                Sample(
                    group,
                    group,
                    one.ids,
                    one.mask,
                    one.logprobs,
                    play.episode_return,
                    play.temperature,
                    play.policy_version,
                    one.cut or play.stop == "context",
                    one.share,
                )
                for one in sequences(play)
            ]
    lost = _lost((f"{play.environment}/{play.seed}" for play in plays), kept)
    return Batch(tuple(kept), dropped, lost)


def from_designs(designs: Sequence[DesignRecord], version: int, max_lag: int) -> Batch:
    """Group designs by brief, with the mean of their skill as baseline, to train policy ``version``.

    Left out: designs without a reward (see ``_unpaid``), without token ids or of the likeliest tokens only,
    and those of policies more than ``max_lag`` versions behind.
    """
    kept: list[Sample] = []
    dropped: Counter[str] = Counter()
    for design in designs:
        if design.reward is None:
            dropped[_unpaid(design)] += 1
        elif design.text_only or len(design.ids) != len(design.logprobs):
            dropped[TEXT_ONLY] += 1
        elif "likeliest" in json.loads(design.brief):
            dropped[TRUNCATED] += 1
        elif version - design.policy_version > max_lag:
            dropped["too old"] += 1
        elif not (design.prompt_ids and design.ids):
            dropped["nothing sampled"] += 1
        else:
            prompt = len(design.prompt_ids)
            kept.append(
                Sample(
                    design.group,
                    _skill(design),
                    design.prompt_ids + design.ids,
                    (0,) * prompt + (1,) * len(design.ids),
                    (0.0,) * prompt + design.logprobs,
                    design.reward,
                    design.temperature,
                    design.policy_version,
                    design.reason == "cut_off",
                )
            )
    return Batch(tuple(kept), dropped, _lost((design.group for design in designs), kept))


def _unpaid(design: DesignRecord) -> str:
    """Why a design has no reward: nobody's here, known already, lost by us, or its hint's fault alone."""
    if json.loads(design.brief).get("origin") == "import":
        return "imported"
    return {"duplicate": "duplicate", "faulted": "our fault"}.get(design.outcome, "hint refused")


def _skill(design: DesignRecord) -> str:
    """The designs a design is compared with: those of its skill, repairs apart from first tries.

    (SPADE, arXiv 2608.19197: centred on the mean of the skill group.) A repair starts from a draft
    that failed: its rewards say nothing about a first try's.
    """
    brief = json.loads(design.brief)
    return f"{brief.get('skill', design.group)}+{brief.get('turn', 0)}"


def _lost(groups: Iterable[str], kept: Sequence[Sample]) -> tuple[str, ...]:
    alive = {sample.group for sample in kept}
    return tuple(group for group in dict.fromkeys(groups) if group not in alive)
