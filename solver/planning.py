"""What a training step will play and train on: decided from the store, before anything is done."""

from dataclasses import dataclass

from memory import EnvironmentRecord, StandingRecord, Store
from solver import curriculum
from solver.config import TrainConfig
from solver.curriculum import Candidate
from solver.episodes import Job
from solver.samples import Batch, from_designs
from solver.versions import PolicyInfo, Versions
from spadekit.errors import BadInput
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


def plan(store: Store, versions: Versions, config: TrainConfig, shard: int, version: int) -> Plan:
    """Decide what a step plays and trains on; changes nothing. Raises ``BadInput``."""
    if not versions.has(version - 1):
        raise BadInput(
            f"policy version {version} needs version {version - 1}, which is not in "
            f"{versions.root}; train on the shards before it first"
        )
    parent = versions.validate(version - 1)
    data = store.shard(shard)
    standings = _standings_before(store, parent.version)
    here = {one.id: one for one in data.environments}
    frontier = [name for name, one in standings.items() if one.status == "frontier"]
    elsewhere = store.environments(ids=sorted(set(frontier) - here.keys()))
    known = here | {one.id: one for one in elsewhere}
    candidates = [
        Candidate(name, one.shard, standings[name].status if name in standings else "unmeasured")
        for name, one in known.items()
    ]
    chosen = curriculum.choose(
        candidates,
        shard=shard,
        count=config.groups if config.solver_weight else 0,
        replay=config.replay,
        seed=derive(config.seed, "choose", version),
    )
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
    return Plan(version, parent, shard, tuple(known[name] for name in chosen), tuple(jobs), designs)


def _standings_before(store: Store, parent: int) -> dict[str, StandingRecord]:
    """The newest standings as they were before the step that follows version ``parent``.

    What a killed try of that step settled is left out (only training's plays lack the hinted arm),
    so that doing it again chooses the same environments.
    """
    earlier = store.latest_standings(parent - 1)
    return {
        name: one if one.plays_hinted or one.policy_version < parent else earlier.get(name, one)
        for name, one in store.latest_standings(parent).items()
    }
