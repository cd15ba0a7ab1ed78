"""What a training step will play and train on: decided from the store, before anything is done."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory import EnvironmentRecord, PlayRecord, ShardData, StandingRecord, Store, measure
from solver import curriculum
from solver.config import TrainConfig
from solver.curriculum import Candidate, Choice, Rules, State
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
    standings = _standings_before(store, parent.version, data)
    here = {one.id: one for one in data.environments}
    frontier = [name for name, one in standings.items() if one.status == "frontier"]
    elsewhere = store.environments(ids=sorted(set(frontier) - here.keys()))
    known = here | {one.id: one for one in elsewhere}
    choice, state = curriculum.choose(
        state,
        [_candidate(one, standings.get(name)) for name, one in known.items()],
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
    returns: dict[str, list[float]] = defaultdict(list)
    for one in records:
        if one.episode_return is not None and not one.fault and one.arm == "unhinted":
            returns[one.environment].append(one.episode_return)
    return curriculum.observe(step.state, returns)


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


def _candidate(one: EnvironmentRecord, standing: StandingRecord | None) -> Candidate:
    if standing is None:
        return Candidate(one.id, one.shard, "unmeasured")
    return Candidate(one.id, one.shard, standing.status, standing.policy_version)


def _standings_before(store: Store, parent: int, shard: ShardData) -> dict[str, StandingRecord]:
    """The newest standings as they were before the step that follows version ``parent``.

    Version ``parent`` trains in that step only: where plays of it for training are there already, a
    try was killed, and what that settled is left out, so that doing it again chooses the same.
    """
    latest = dict(store.latest_standings(parent))
    where = f"purpose = 'train' AND policy_version = {parent}"
    tried = set(store.scan("plays", where, ["environment"]).column("environment").to_pylist())
    settled = [name for name in tried if name in latest and latest[name].policy_version == parent]
    if not settled:
        return latest
    published = {one.environment: one for one in shard.standings}
    earlier = store.latest_standings(parent - 1)
    for name in settled:
        if name in published and published[name].policy_version == parent:
            latest[name] = published[name]
            continue
        measured = [one for one in store.plays(name) if one.purpose != "train"]
        before = measure(name, parent, measured, 0)
        if before.plays_unhinted or before.plays_hinted:
            latest[name] = before
        elif name in earlier:
            latest[name] = earlier[name]
        else:
            del latest[name]
    return latest
