"""Training samples out of plays and designs, and the reasons why others are left out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from memory import DesignRecord, PlayRecord

Role = Literal["solver", "designer"]
ROLES: tuple[Role, Role] = ("solver", "designer")


@dataclass(frozen=True)
class Sample:
    """One token sequence with what its sampled part earned.

    ``ids``, ``mask`` and ``logprobs`` run over the whole sequence; the mask is 1 on sampled ids.
    """

    group: str
    ids: tuple[int, ...]
    mask: tuple[int, ...]
    logprobs: tuple[float, ...]
    reward: float
    temperature: float
    version: int

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


def from_plays(plays: Sequence[PlayRecord]) -> Batch:
    """Group unhinted plays by (environment, seed). Faulted plays are left out: no losses."""
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
            kept.append(
                Sample(
                    group,
                    play.ids,
                    play.mask,
                    play.logprobs,
                    play.episode_return,
                    play.temperature,
                    play.policy_version,
                )
            )
    lost = _lost((f"{play.environment}/{play.seed}" for play in plays), kept)
    return Batch(tuple(kept), dropped, lost)


def from_designs(designs: Sequence[DesignRecord], version: int, max_lag: int) -> Batch:
    """Group designs by brief, for training policy ``version``.

    Left out: faults of ours (no reward), designs without token ids, and those of policies more than
    ``max_lag`` versions behind.
    """
    kept: list[Sample] = []
    dropped: Counter[str] = Counter()
    for design in designs:
        if design.reward is None:
            dropped["excluded"] += 1
        elif design.text_only or len(design.ids) != len(design.logprobs):
            dropped["text only"] += 1
        elif version - design.policy_version > max_lag:
            dropped["too old"] += 1
        elif not design.ids:
            dropped["nothing sampled"] += 1
        else:
            prompt = len(design.prompt_ids)
            kept.append(
                Sample(
                    design.group,
                    design.prompt_ids + design.ids,
                    (0,) * prompt + (1,) * len(design.ids),
                    (0.0,) * prompt + design.logprobs,
                    design.reward,
                    design.temperature,
                    design.policy_version,
                )
            )
    return Batch(tuple(kept), dropped, _lost((design.group for design in designs), kept))


def _lost(groups: Iterable[str], kept: Sequence[Sample]) -> tuple[str, ...]:
    alive = {sample.group for sample in kept}
    return tuple(group for group in dict.fromkeys(groups) if group not in alive)
