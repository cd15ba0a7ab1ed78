"""Where a run's time went and where its designs ended, worked out of its figures. Pure."""

import math
from collections import Counter
from collections.abc import Sequence

from bench.figures import RoundFigures, TrainingFigures
from envgen.summary import outside_share
from memory.stats import passed


def outside(rounds: RoundFigures, training: Sequence[TrainingFigures]) -> float | None:
    """Return ``outside_share`` of a round and of the training on it; None where no time was noted."""
    if not rounds.seconds.get("total"):
        return None
    names = ("total", "forward", "backward")
    told = {name: [one.metrics.get(f"train/seconds/{name}") for one in training] for name in names}
    spent = {
        name: math.fsum(value for value in values if value is not None)
        for name, values in told.items()
        if None not in values
    }
    if len(spent) < len(names):
        return None
    return outside_share(rounds.seconds, spent)


def funnel(rounds: Sequence[RoundFigures]) -> list[tuple[str, int, int]]:
    """Return (stage, designs stopped there, designs left) over the given rounds, in order."""
    stopped: Counter[str] = Counter()
    for one in rounds:
        stopped.update(one.refused_at)
    left = sum(one.designs for one in rounds) - stopped.total()
    return passed(
        {("", stage, ""): count for stage, count in stopped.items()} | {("", "", ""): left}
    )


def trained_on(training: Sequence[TrainingFigures]) -> dict[int | None, list[TrainingFigures]]:
    """Return the training steps by the shard that they were made on; there may be several on one."""
    found: dict[int | None, list[TrainingFigures]] = {}
    for one in training:
        found.setdefault(one.shard, []).append(one)
    return found


def round_seconds(rounds: Sequence[RoundFigures]) -> dict[str, list[float]]:
    """Return seconds per stage and round.

    Rounds record when each stage ended, counted from the round's start; stages that overlap become
    parts that add up to the round's time.
    """
    parts: dict[str, list[float]] = {}
    for one in rounds:
        reached = 0.0
        for stage in ("design", "certify", "probe", "total"):
            end = max(reached, one.seconds.get(stage, reached))
            parts.setdefault("publish" if stage == "total" else stage, []).append(end - reached)
            reached = end
    return parts


def step_seconds(training: Sequence[TrainingFigures]) -> dict[str, list[float]]:
    """Return seconds per part and training step; the parts add up to the step's time."""
    parts: dict[str, list[float]] = {}
    for one in training:
        play, forward, backward, total = (
            one.metrics.get(f"train/seconds/{name}", 0.0)
            for name in ("play", "forward", "backward", "total")
        )
        for name, value in (
            ("sampling", forward),
            ("environments, waiting", play - forward),
            ("updates", backward),
            ("reading, publishing", total - play - backward),
        ):
            parts.setdefault(name, []).append(max(0.0, value))
    return parts


def stage_shares(rounds: Sequence[RoundFigures]) -> dict[str, list[float]]:
    """Return the share of each round's designs that ended at a stage; the first is admission."""
    rows = {"admitted": [part(one.admitted, one.designs) or 0.0 for one in rounds]}
    for stage, _, _ in reversed(funnel(rounds)):
        rows[stage] = [part(one.refused_at.get(stage, 0), one.designs) or 0.0 for one in rounds]
    return rows


def part(some: int, of: int) -> float | None:
    """Return a share, None of nothing."""
    return some / of if of else None
