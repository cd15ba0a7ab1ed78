"""What the designs of a round end as: rewards, records, and the figures that the shard's manifest keeps."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from envgen.config import DesignerConfig, MonitorConfig, RewardConfig
from envgen.draft import Draft, Origin
from envgen.monitors import as_meta, watch
from envgen.reward import Averages, designer_reward
from envgen.summary import summarise
from memory import DesignRecord, EnvironmentRecord, MemoryConfig, PlayRecord, StandingRecord
from memory.variety import variety
from spadekit.settings import Settings


@dataclass(frozen=True)
class Closing:
    """The rows of a shard, and the figures of its manifest that follow from them."""

    environments: Sequence[EnvironmentRecord]
    designs: Sequence[DesignRecord]
    plays: Sequence[PlayRecord]
    standings: Sequence[StandingRecord]
    meta: Mapping[str, Any]


def close(
    drafts: Sequence[Draft],
    origin: Origin,
    settings: Settings,
    before: Mapping[str, Averages],
) -> Closing:
    """Pay every design and return the shard. ``before``: the averages of skills when the round began.

    Sets the outcome of each draft that has none yet: it is admitted.
    """
    kind = settings.section(RewardConfig).kind
    separate = settings.section(DesignerConfig).hint == "separate"
    after = dict(before)
    environments, designs, standings = [], [], []
    plays: list[PlayRecord] = []
    for draft in drafts:
        # An invalid design earns 0, so validity is learned. A fault of ours teaches nothing, and a
        # duplicate is neither paid nor punished: diversity is for admission, never in the reward.
        # Nor is a program blamed for a hint that was asked for apart.
        blamed = draft.outcome == "refused" and not (separate and draft.stage == "hint")
        reward: float | None = 0.0 if blamed else None
        if not draft.outcome:
            assert draft.standing is not None
            draft.outcome = "admitted"
            skill, unhinted = draft.brief["skill"], draft.standing.return_unhinted
            reward = designer_reward(
                kind, draft.standing.return_hinted, unhinted, before.get(skill, Averages())
            )
            after[skill] = after.get(skill, Averages()).after(unhinted)
            environments.append(draft.environment(origin))
            standings.append(draft.standing)
            plays += draft.plays
        designs.append(draft.design(origin, reward))
    found = watch(environments, plays, standings)
    admitted = [one for one in drafts if one.outcome == "admitted"]
    meta = {
        **summarise(designs, standings, plays),
        "monitors": as_meta(origin.shard, found, settings.section(MonitorConfig)),
        "averages": {skill: dataclasses.astuple(one) for skill, one in after.items()},
        "variety": _variety(admitted, settings.section(MemoryConfig).collapse_below),
    }
    return Closing(environments, designs, plays, standings, meta)


def _variety(admitted: Sequence[Draft], collapse_below: float) -> dict[str, Any]:
    meanings = [one.embedding for one in admitted if one.embedding is not None]
    novelties = [one.decision.novelty for one in admitted if one.decision is not None]
    found = variety(
        np.stack(meanings) if meanings else None,
        [value for value in novelties if value is not None],
        collapse_below,
    )
    return dataclasses.asdict(found)
