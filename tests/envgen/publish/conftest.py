"""A small store with real certificates, made once, and releases of it."""

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from envgen.certificate import Certificate, Terms, certify
from envgen.corpus import CorpusConfig
from envgen.publish.build import Built, Request, build
from envgen.publish.config import PublishConfig
from envgen.publish.scan import Machine
from envgen.seeds import Seed, load
from memory import (
    DesignRecord,
    EnvironmentRecord,
    PlayRecord,
    Store,
    environment_id,
    measure,
    record_id,
)
from memory.diversity import tree_digest
from sandbox import Sandbox
from solver.config import SolverConfig
from spadekit.report import Report

NAMES = ("beads", "parcels", "tide")
NOBODY = Machine({}, ())


@pytest.fixture(scope="session")
def certified() -> list[tuple[Seed, Certificate]]:
    """Three seeds with the certificates that they get."""
    by_name = {seed.name: seed for seed in load()}
    seeds = [by_name[name] for name in NAMES]

    async def main() -> list[Certificate]:
        async with Sandbox() as sandbox:
            # As a home of the default recipe certifies, so that an import finds the same facts again.
            terms = Terms(SolverConfig().max_turns)
            return [await certify(seed.source, seed.hint, sandbox, terms=terms) for seed in seeds]

    return list(zip(seeds, asyncio.run(main()), strict=True))


def environment(seed: Seed, certificate: Certificate, shard: int, **changes: Any) -> Any:
    record = EnvironmentRecord(
        id=environment_id(seed.setting, seed.source, seed.hint),
        shard=shard,
        setting=seed.setting,
        skills=seed.skills,
        title=certificate.title,
        description=certificate.description,
        source=seed.source,
        hint=seed.hint,
        tools=json.dumps(certificate.tools) if certificate.tools else "",
        difficulty=seed.difficulty,
        certificate=certificate.as_json(),
        policy_version=3,
        parents=("0" * 20,),
        document="barges",
        design=record_id("design", seed.name),
        digest=tree_digest(seed.source),
        fingerprint=certificate.fingerprint,
        isolation=certificate.isolation,
        decision="{}",
    )
    return dataclasses.replace(record, **changes)


def design(one: EnvironmentRecord | None, shard: int, number: int = 0) -> DesignRecord:
    return DesignRecord(
        id=one.design if one else record_id("refused", shard, number),
        shard=shard,
        brief="{}",
        group="g",
        prompt_ids=(),
        ids=(),
        logprobs=(),
        text="",
        text_only=True,
        temperature=1.0,
        seed=0,
        policy_version=3,
        outcome="admitted" if one else "refused",
        stage="" if one else "solvable",
        reason="",
        detail="",
        environment=one.id if one else "",
        reward=0.5,
    )


def play(one: EnvironmentRecord, number: int) -> PlayRecord:
    return PlayRecord(
        id=record_id("play", one.id, number),
        environment=one.id,
        seed=number // 2,
        arm="hinted" if number % 2 else "unhinted",
        purpose="probe",
        episode_return=float(number % 2 or number % 4 == 0),
        turns=2,
        fault="",
        stop="terminated",
        policy_version=3,
        temperature=1.0,
        ids=(1, 2),
        mask=(0, 1),
        logprobs=(0.0, -0.5),
        transcript='[{"role": "user", "content": "go"}]',
    )


@pytest.fixture(scope="session")
def records(certified: list[tuple[Seed, Certificate]]) -> list[EnvironmentRecord]:
    """One environment for each of the shards 1, 2 and 2."""
    shards = (1, 2, 2)
    return [environment(*one, shard) for one, shard in zip(certified, shards, strict=True)]


def fill(root: Path, records: list[EnvironmentRecord]) -> None:
    """Publish shards 1 (nothing measured), 2 (measured) and 3 (no environment was admitted)."""
    with Store.open(root, create=True) as store:
        for shard in (1, 2, 3):
            some = [one for one in records if one.shard == shard]
            plays = [play(one, n) for one in some for n in range(8) if shard == 2]
            standings = [measure(one.id, 3, plays, 1) for one in some if shard == 2]
            designs = [*(design(one, shard) for one in some), design(None, shard)]
            store.publish(shard, some, designs, plays, standings, meta={"policy_version": 3})


@pytest.fixture(scope="session")
def home(records: list[EnvironmentRecord], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose store has three shards."""
    folder = tmp_path_factory.mktemp("home")
    fill(folder / "store", records)
    return folder


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> CorpusConfig:
    """A corpus with one document, without a licence."""
    path = tmp_path_factory.mktemp("corpus") / "barges.md"
    path.write_text("# Barges\n\nA barge walks through locks.\n")
    return CorpusConfig(path=str(path))


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    with Store.open(home / "store") as opened:
        yield opened


def make(folder: Path, store: Store, corpus: CorpusConfig, **changes: Any) -> Built:
    """Build a release; ``changes`` are of the request, ``publish`` those of its configuration."""
    config = PublishConfig(**{"benchmarks": (), **changes.pop("publish", {})})
    numbers = changes.pop("numbers", None) or store.numbers()
    request = Request(
        **{
            "name": "tester/envs",
            "tag": "v1.0.0",
            "shards": [store.manifest(number) for number in numbers],
            "config": config,
            "corpus": corpus,
            "machine": NOBODY,
            **changes,
        }
    )
    folder.mkdir(parents=True, exist_ok=True)

    async def main() -> Built:
        async with Sandbox() as sandbox:
            return await build(folder, request, store, sandbox, Report())

    return asyncio.run(main())
