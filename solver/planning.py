"""What a training step will play and train on: decided from the store, before anything is done."""

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memory import EnvironmentRecord, PlayRecord, ShardData, StandingRecord, Store
from solver import curriculum
from solver.config import TrainConfig
from solver.curriculum import Candidate, Choice, Group, Rules, State
from solver.episodes import Job
from solver.samples import Batch, from_designs
from solver.versions import CURRICULUM, PolicyInfo, Versions
from solver.weights import MEND
from spadekit.errors import BadInput
from spadekit.files import write_atomic
from spadekit.seeds import derive


@dataclass(frozen=True)
class Plan:
    """What a step will play and train on, before anything is done."""

    version: int
    parent: PolicyInfo
    shard: int
    environments: tuple[EnvironmentRecord, ...]
    jobs: tuple[Job, ...]
    designs: Batch
    choice: Choice
    state: State
    """The curriculum's, with the choice noted in it and nothing seen of its plays yet."""


def plan(store: Store, versions: Versions, config: TrainConfig, shard: int, version: int) -> Plan:
    """Decide what a step plays and trains on; changes nothing. Raises ``BadInput``."""
    if not versions.has(version - 1):
        raise BadInput(
            f"policy version {version} needs version {version - 1}, which is not in "
            f"{versions.root}; train on the shards before it first"
        )
    parent = versions.validate(version - 1)
    state = read_curriculum(versions.path(parent.version))
    return plan_after(store, parent, state, config, shard)


def plan_after(
    store: Store, parent: PolicyInfo, state: State, config: TrainConfig, shard: int
) -> Plan:
    """Decide what the step after version ``parent`` plays and trains on; changes nothing.

    ``state`` is the curriculum's that ``parent`` is stored with. Raises ``BadInput``.
    """
    version = parent.version + 1
    data = store.shard(shard)
    choice, state = curriculum.choose(
        state,
        _candidates(store, parent.version, data),
        Rules(
            shard=shard,
            version=parent.version,
            count=config.groups if config.solver_weight else 0,
            replay=config.replay,
            kind=config.curriculum,
        ),
        derive(config.seed, "choose", version),
    )
    chosen = choice.environments
    known = {one.id: one for one in data.environments}
    known |= {one.id: one for one in store.environments(ids=sorted(set(chosen) - known.keys()))}
    jobs = [
        Job(
            environment=name,
            source=known[name].source,
            seed=derive(config.seed, "instance", version, name, number) % 2**31,
            hint=None,
            sample_seed=derive(config.seed, "play", version, name, number, member),
        )
        for name, number in curriculum.instances(
            chosen, groups=config.groups, most=config.instances
        )
        for member in range(config.group)
    ]
    told = data.designs if config.designer_weight else ()
    designs = from_designs(told, parent.version, config.max_lag)
    environments = tuple(known[name] for name in chosen)
    return Plan(version, parent, shard, environments, tuple(jobs), designs, choice, state)


def observed(step: Plan, records: Sequence[PlayRecord]) -> State:
    """Return the curriculum's state once a step's plays are done."""
    returns: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in records:
        if one.arm == "unhinted":
            ended = returns[one.environment][one.seed]
            if one.episode_return is not None and not one.fault:
                ended.append(one.episode_return)
    version = step.parent.version
    played = {
        environment: [
            Group(version, seed, len(found), math.fsum(found) / len(found) if found else None)
            for seed, found in seeds.items()
        ]
        for environment, seeds in returns.items()
    }
    return curriculum.observe(step.state, played)


def standings_of(store: Store, versions: Versions, version: int) -> dict[str, StandingRecord]:
    """Return how environments stand for a policy version, by id: what a brief says of them.

    That is what was last measured up to that version, but where the steps that led to it found an
    environment mastered or hopeless since, it is what their plays say. Left out is what such a step
    found open again, or broken: of these nothing is known that is worth saying. Both sources are as they
    were when the version was published, so a round may be designed beside the steps that follow it.
    """
    state = read_curriculum(versions.path(version))
    found = {}
    for name, one in store.latest_standings(version).items():
        measured = Candidate(name, 0, one.status, one.policy_version)
        stands, about = curriculum.standing(measured, state.of(name))
        if stands == one.status:
            found[name] = one
        elif stands in ("mastered", "hopeless"):
            found[name] = _as_played(
                one, stands, about, curriculum.since_measured(measured, state.of(name))
            )
    return found


def _as_played(
    one: StandingRecord, stands: str, about: int, groups: Sequence[Group]
) -> StandingRecord:
    means = [group.episode_return for group in groups if group.episode_return is not None]
    return replace(
        one,
        policy_version=about,
        status=stands,
        hint_only=False,
        plays_unhinted=sum(group.plays for group in groups),
        return_unhinted=math.fsum(means) / len(means),
        plays_hinted=0,
        return_hinted=math.nan,
        regret=math.nan,
        regret_low=math.nan,
        regret_high=math.nan,
    )


def write_curriculum(folder: Path, choice: Choice, state: State) -> None:
    """Write what led to a version, and the state after it, into the version's folder."""
    data = json.dumps(curriculum.as_json(choice, state), allow_nan=False, separators=(",", ":"))
    write_atomic(folder / CURRICULUM, data.encode())


def read_curriculum(folder: Path) -> State:
    """Return the state that a version was stored with; an empty one before any step."""
    path = folder / CURRICULUM
    if not path.exists():
        return State()
    try:
        return curriculum.from_json(json.loads(path.read_bytes()))[1]
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(f"{path} is damaged ({error}); {MEND}") from None


def _candidates(store: Store, parent: int, data: ShardData) -> list[Candidate]:
    """Return the environments of the shard and of those before it, as last measured up to a version.

    Later shards may be there already, or not: nothing of them is looked at.
    """
    older = store.scan(
        "environments", f"shard < {data.manifest.shard}", ["id", "shard"]
    ).to_pylist()
    shards = {row["id"]: row["shard"] for row in older}
    shards |= {one.id: one.shard for one in data.environments}
    latest = store.latest_standings(parent)
    return [
        Candidate(name, shard, latest[name].status, latest[name].policy_version)
        if name in latest
        else Candidate(name, shard, "unmeasured")
        for name, shard in shards.items()
    ]
