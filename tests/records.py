"""Records with values that agree with each other; any field can be given by name.

A test names the fields that it is about, and a new field of the store is one line here.
"""

from typing import Any

from memory import (
    DesignRecord,
    EnvironmentRecord,
    PlayRecord,
    StandingRecord,
    environment_id,
)


def environment(source: str, shard: int = 1, **given: Any) -> EnvironmentRecord:
    """An admitted game, of the version before its shard's own. Its id is made of what it is."""
    fields: dict[str, Any] = {
        "setting": "game",
        "skills": ("logical_deduction",),
        "title": source,
        "description": "",
        "hint": "",
        "tools": "",
        "difficulty": 1,
        "certificate": "{}",
        "policy_version": shard - 1,
        "parents": (),
        "document": "",
        "design": "",
        "digest": source,
        "fingerprint": "",
        "isolation": "nsjail",
        "decision": "{}",
        **given,
    }
    made = environment_id(fields["setting"], source, fields["hint"])
    return EnvironmentRecord(**{"id": made, "source": source, "shard": shard, **fields})


def standing(
    environment: str,
    version: int = 0,
    *,
    unhinted: float = 0.5,
    hinted: float = 0.75,
    **given: Any,
) -> StandingRecord:
    """What 8 plays of a version in each arm have shown; the regret is the difference of the returns."""
    regret = hinted - unhinted
    fields: dict[str, Any] = {
        "plays_unhinted": 8,
        "plays_hinted": 8,
        "regret_low": regret - 0.25,
        "regret_high": regret + 0.25,
        "status": "frontier",
        "hint_only": False,
        "updated": 1,
        **given,
    }
    return StandingRecord(
        environment=environment,
        policy_version=version,
        return_unhinted=unhinted,
        return_hinted=hinted,
        regret=regret,
        **fields,
    )


def play(
    environment: str,
    seed: int,
    value: float | None,
    version: int = 0,
    arm: str = "unhinted",
    **given: Any,
) -> PlayRecord:
    """A play that returned ``value``, or one that the environment broke, for None."""
    fields: dict[str, Any] = {
        "id": f"{environment}-{seed}-{version}-{arm}-{value}",
        "purpose": "train",
        "turns": 1,
        "fault": "" if value is not None else "step:raised",
        "stop": "terminated",
        "temperature": 1.0,
        "ids": (1, 2, 3),
        "mask": (0, 1, 1),
        "logprobs": (0.0, -0.1, -0.2),
        "transcript": "[]",
        **given,
    }
    return PlayRecord(
        environment=environment,
        seed=seed,
        arm=arm,
        episode_return=value,
        policy_version=version,
        **fields,
    )


def design(number: int, shard: int = 1, **given: Any) -> DesignRecord:
    """A design that was refused when it was read, of the version before its shard's own."""
    fields: dict[str, Any] = {
        "id": f"design-{shard}-{number}",
        "brief": "{}",
        "group": f"brief-{number // 3}",
        "prompt_ids": (1, 2),
        "ids": (3, 4, 5),
        "logprobs": (-0.1, -0.2, -0.3),
        "text": "",
        "text_only": False,
        "temperature": 0.9,
        "seed": number,
        "policy_version": shard - 1,
        "outcome": "refused",
        "stage": "read",
        "reason": "no_code",
        "detail": "",
        "environment": "",
        "reward": 0.0,
        **given,
    }
    return DesignRecord(shard=shard, **fields)
