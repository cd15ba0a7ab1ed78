"""The figures of one shard, all of them computable again from what the shard stores."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memory import DesignRecord, PlayRecord, StandingRecord
from memory.standing import FRONTIER_HIGH, FRONTIER_LOW


def summarise(
    designs: Sequence[DesignRecord],
    standings: Sequence[StandingRecord],
    plays: Sequence[PlayRecord],
) -> dict[str, Any]:
    """Return counts by outcome, mean returns and regret, and what it cost.

    ``valid`` designs passed the certificate, duplicates of known environments included.
    ``learnable`` is the share of admitted environments whose mean unhinted return lies in
    [0.15, 0.85]. ``repaired`` designs were read although their form was not as asked, ``follow_ups``
    answer a check's message; both are among the ``designs``, with how many of them are valid. Means are
    ``None`` where there is nothing to average.
    """
    outcomes = Counter(design.outcome for design in designs)
    stages = Counter(design.stage for design in designs if design.stage)
    unhinted = [standing.return_unhinted for standing in standings]
    briefs = [json.loads(design.brief or "{}") for design in designs]
    repaired = [d for d, brief in zip(designs, briefs, strict=True) if brief.get("repaired")]
    followed = [d for d, brief in zip(designs, briefs, strict=True) if brief.get("turn")]
    return {
        "designs": len(designs),
        "valid": _valid(designs),
        "admitted": outcomes["admitted"],
        "duplicates": outcomes["duplicate"],
        "faulted": outcomes["faulted"],
        "refused_at": dict(stages.most_common()),
        "repaired": len(repaired),
        "repaired_valid": _valid(repaired),
        "follow_ups": len(followed),
        "follow_ups_valid": _valid(followed),
        "return_unhinted": _mean(unhinted),
        "return_hinted": _mean([standing.return_hinted for standing in standings]),
        "regret": _mean([standing.regret for standing in standings]),
        "learnable": _mean([float(FRONTIER_LOW <= value <= FRONTIER_HIGH) for value in unhinted]),
        "designer_reward": _mean([d.reward for d in designs if d.reward is not None]),
        "plays": len(plays),
        "faulted_plays": sum(play.episode_return is None for play in plays),
        "tokens": sum(len(design.ids) for design in designs) + sum(sum(p.mask) for p in plays),
    }


def outside_share(
    generate_s: Mapping[str, float], train_s: Mapping[str, float | None]
) -> float | None:
    """Return the share of a round's time that was spent outside the policy's passes.

    A round's clock runs from its plan to its rewards and figures, killed tries included; neither the
    start of the command nor the writing of the shard, which holds the figure, is in it. The policy's
    passes are forward passes and the draws from them (behind a URL: the time in which a request of ours
    was open); its caches, batches and text are outside. ``generate_s`` has ``total`` and ``forward``
    seconds, ``train_s`` also ``backward`` (which counts the whole update, optimiser included). None where
    one is missing.
    """
    forward, backward, total = (train_s[name] for name in ("forward", "backward", "total"))
    if forward is None or backward is None or total is None:
        return None
    return 1.0 - (generate_s["forward"] + forward + backward) / (generate_s["total"] + total)


def _valid(designs: Sequence[DesignRecord]) -> int:
    return sum(design.outcome in ("admitted", "duplicate") for design in designs)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
