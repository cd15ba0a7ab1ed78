"""Small runs with true schemas, published through the real store and versions, for the tests."""

import math
import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from bench.heldout.results import Protocol, Result, Returns, save
from bench.playing import Playing
from memory import (
    DesignRecord,
    EnvironmentRecord,
    MemoryConfig,
    PlayRecord,
    StandingRecord,
    Store,
    status,
)
from solver.versions import INFO, PolicyInfo, Versions, file_digest
from spadekit.files import write_json
from tests import records

TOPICS = ("barge", "orchard", "lamp", "ferry", "loom", "quarry", "signal", "harvest")
SKILLS = ("spatial_reasoning", "logical_deduction", "memory_recall")
REFUSALS = ("read", "read", "contract", "solvable", "solvable", "nontrivial", "hint", "probe")
PLAYING = Playing("short", 1.0, 1.0, 0, 48, 12, 1024, "default", "float32", "nsjail")
PROTOCOL = Protocol(
    **asdict(PLAYING), data="embedded", data_digest="d" * 64, plays=8, greedy_plays=4, seed=0
)


def make_run(
    home: Path,
    run: str,
    rounds: int,
    title: str = "",
    heldout: bool = True,
    trained_on: Sequence[int] | None = None,
) -> None:
    """Publish ``rounds`` shards and the versions trained on them, figures rising with noise.

    ``trained_on``: the shard of each version from 1 on; by default each shard's is the next.
    """
    rng = random.Random(7)
    versions = Versions(home / "policy")
    publish_version(versions, PolicyInfo(0, None, 0, None, "", {}, {}))
    with Store.open(home / "store", MemoryConfig(), create=True) as store:
        for number in range(1, rounds + 1):
            progress = number / max(rounds, 2)
            publish_round(store, rng, run, number, progress=progress, title=title)
    on = range(1, rounds + 1) if trained_on is None else trained_on
    for version, shard in enumerate(on, start=1):
        publish_version(versions, training(rng, version, shard))
    write_json(
        home / "runs" / run / "run.json",
        {"run": run, "rounds": rounds, "seed": 0, "settings": {"ProducerConfig": {"designs": 24}}},
    )
    if heldout:
        for version in sorted({0, *range(0, len(on), 5), len(on)}):
            result = heldout_result(version, 0.2 + 0.006 * version)
            weights = versions.read(version).weights
            save(home / "runs" / run, replace(result, weights=weights))


def publish_round(
    store: Store, rng: random.Random, run: str, number: int, *, progress: float, title: str
) -> None:
    """Publish one shard of 24 designs, some refused, some duplicates."""
    environments: list[EnvironmentRecord] = []
    designs: list[DesignRecord] = []
    plays: list[PlayRecord] = []
    standings: list[StandingRecord] = []
    for index in range(24):
        chance = rng.random()
        valid = chance < 0.7 + 0.15 * progress
        new = valid and chance > 0.08
        environment = None
        if new:
            environment = make_environment(rng, number, index, title)
            environments.append(environment)
            made = make_plays(rng, environment.id, number, 0.25 + 0.2 * progress)
            plays += made
            standings.append(make_standing(environment.id, number, made))
        designs.append(
            records.design(
                index,
                number,
                id=f"{run}-{number:06d}-{index:03d}",
                group=f"brief{index // 4}",
                outcome="admitted" if new else "duplicate" if valid else "refused",
                stage="" if new else "diversity" if valid else rng.choice(REFUSALS),
                reason="" if new else "variant" if valid else "certificate",
                environment=environment.id if environment else "",
                reward=rng.uniform(0.2, 0.9) if new else 0.0,
            )
        )
    design, certify = rng.uniform(4, 6), rng.uniform(1, 2)
    store.publish(
        number,
        environments,
        designs,
        plays,
        standings,
        meta={
            "run": run,
            "seed": 0,
            "round": number,
            "policy_version": number - 1,
            "plays": len(plays),
            "faulted_plays": sum(play.episode_return is None for play in plays),
            "monitors": {"figures": {"garbage": {"count": 1, "of": 20, "share": 0.05}}},
            "tokens": 9_000 + 10 * number,
            "seconds": {
                "design": design,
                "certify": design + certify,
                "probe": design + certify + 4.0,
                "total": design + certify + 4.2,
                "forward": design + 2.0,
            },
        },
    )


def make_environment(rng: random.Random, number: int, index: int, title: str) -> EnvironmentRecord:
    """Return an environment about a topic; ``title`` overrides the first one's of each round."""
    topic = rng.choice(TOPICS)
    name = title if title and index % 4 == 0 else f"Bring the {topic} home in order."
    source = f'class {topic.title()}Env:\n    """{topic} {number} {index}"""\n    k = {index}\n'
    return records.environment(
        source,
        number,
        skills=(rng.choice(SKILLS),),
        title=name,
        description=f"A {topic} puzzle of level {index % 5 + 1}.",
        hint="Look first.",
        difficulty=index % 5 + 1,
        design=f"{number}-{index}",
        digest=f"digest-{number}-{index}",
        fingerprint=f"print-{number}-{index}",
    )


def make_plays(rng: random.Random, environment: str, number: int, solve: float) -> list[PlayRecord]:
    """Return four plays in each arm; the hint helps."""
    return [
        records.play(
            environment,
            seed,
            float(rng.random() < solve + (0.15 if arm == "hinted" else 0.0)),
            number - 1,
            arm,
            purpose="probe",
        )
        for seed in range(4)
        for arm in ("unhinted", "hinted")
    ]


def make_standing(environment: str, number: int, plays: list[PlayRecord]) -> StandingRecord:
    """Return the figures of the plays."""
    unhinted, hinted = (
        math.fsum(play.episode_return or 0.0 for play in plays if play.arm == arm) / 4
        for arm in ("unhinted", "hinted")
    )
    return records.standing(
        environment,
        number - 1,
        unhinted=unhinted,
        hinted=hinted,
        plays_unhinted=4,
        plays_hinted=4,
        status=status(unhinted, hinted - unhinted, False, 4),
        updated=number,
    )


def training(rng: random.Random, number: int, shard: int) -> PolicyInfo:
    """Return what a version trained on a shard says about itself."""
    roles = {role: role_metrics(rng, number, role) for role in ("solver", "designer")}
    metrics = {
        "version": number,
        "parent": number - 1,
        "shard": shard,
        "environments": 12,
        "replayed": 3,
        "plays": {
            "count": 192,
            "faulted": rng.randrange(3),
            "turns": 4.1,
            "malformed": 2,
            "cut": 5,
        },
        **roles,
        "seconds": {"play": 2.5, "forward": 2.0, "backward": 3.1, "total": 6.5},
    }
    return PolicyInfo(number, number - 1, number, shard, "0" * 16, {}, metrics)


def role_metrics(rng: random.Random, number: int, role: str) -> dict[str, object]:
    """Return a role's metrics: the designer's are those of longer and older samples."""
    old = role == "designer"
    return {
        "samples": 24 if old else 190,
        "groups_live": rng.randrange(5, 12),
        "groups_dropped": rng.randrange(2),
        "dropped": {"too old": 0},
        "reward": rng.uniform(0.2, 0.5) + 0.01 * number,
        "tokens": 4_000 if old else 9_000,
        "length": 180.0 + rng.gauss(0, 9) if old else 30.0,
        "length_most": 420 if old else 64,
        "cut_share": rng.uniform(0, 0.05),
        "lag": rng.uniform(0, 2) if old else 0.0,
        "lag_most": 2 if old else 0,
        "tokens_trained": 3_000 if old else 8_000,
        "positions": 20_000,
        "loss": rng.gauss(0, 0.02),
        "grad_norm": rng.uniform(0.5, 2.0),
        "clip_low_share": abs(rng.gauss(0.01, 0.01)),
        "clip_high_share": abs(rng.gauss(0.03, 0.02)),
        "importance": None if old and number == 1 else rng.uniform(0.97, 1.02),
        "importance_cut_share": abs(rng.gauss(0, 0.01)),
        "kl_behaviour": rng.gauss(0.002, 0.002),
        "entropy": 0.9 - 0.02 * number + rng.gauss(0, 0.02),
    }


def publish_version(versions: Versions, info: PolicyInfo) -> None:
    """Leave a version whose weights are a few bytes, as no trainer could: nothing here loads them."""
    folder = versions.path(info.version)
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"%d" % info.version)
    digests = {"model.safetensors": file_digest(folder / "model.safetensors")}
    write_json(folder / INFO, {**asdict(info), "digests": digests})


def heldout_result(version: int, solve: float) -> Result:
    """Return a result over 64 environments of 8 families."""
    rng = random.Random(version)
    environments = tuple(
        Returns(
            id=f"held{index:03d}",
            setting="game",
            skill=SKILLS[index % 3],
            family=TOPICS[index % 8],
            level=index % 5 + 1,
            sampled=tuple(float(rng.random() < solve + 0.03 * (index % 5)) for _ in range(8)),
            greedy=tuple(float(rng.random() < solve + 0.05) for _ in range(4)),
            faulted=0,
        )
        for index in range(64)
    )
    return Result(
        version=version,
        weights=f"{version:064x}",
        protocol=PROTOCOL,
        environments=environments,
        seconds=9.5,
        created=f"2026-01-01T00:00:{version:02d}.000+00:00",
        machine={"processor": "a test's", "cores": 2},
    )


def late_result(version: int, solve: float) -> Result:
    """Return the same over designs that each of three arms made late: its name is their family."""
    result = heldout_result(version, solve)
    return replace(
        result,
        environments=tuple(
            replace(one, id=f"{family}-{one.id}", family=family)
            for family in ("self_play", "frozen", "no_memory")
            for one in result.environments
        ),
    )
