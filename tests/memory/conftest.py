"""Records and stores for the tests of the memory."""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memory import (
    DesignRecord,
    EnvironmentRecord,
    MemoryConfig,
    PlayRecord,
    StandingRecord,
    Store,
    environment_id,
    record_id,
)
from memory.embedding import Embedder

# title, description, skill, setting
ABOUT = (
    (
        "Walk the barge.",
        "Move a barge through canal locks to the sea.",
        "spatial_reasoning",
        "game",
    ),
    ("Add two numbers.", "Answer the sum of two whole numbers.", "mathematical_reasoning", "game"),
    ("Guess the word.", "Find a hidden word letter by letter.", "language_understanding", "game"),
    ("Weigh the coins.", "Find the false coin with a balance.", "logical_deduction", "game"),
    ("Pack the lorry.", "Load parcels of most value under a limit.", "optimisation", "game"),
    ("Continue the row.", "Say the next number of a sequence.", "pattern_recognition", "game"),
    ("Which switch?", "Find out which switch lights which lamp.", "causal_inference", "game"),
    ("Book a room.", "Reserve meeting rooms for colleagues.", "api_orchestration", "tool_use"),
    ("Find the parcel.", "Look up where a parcel is by its name.", "data_retrieval", "tool_use"),
    ("Mend the order.", "Retry a failed payment of a shop order.", "error_recovery", "tool_use"),
)


def make_environment(number: int = 0, shard: int = 1, **changes: Any) -> EnvironmentRecord:
    title, description, skill, setting = ABOUT[number % len(ABOUT)]
    source = f"class Number{number}Env:\n    answer = {number}\n"
    record = EnvironmentRecord(
        id="",
        shard=shard,
        setting=setting,
        skills=(skill,),
        title=title,
        description=description,
        source=source,
        hint="Think.",
        tools="" if setting == "game" else "[]",
        difficulty=1 + number % 5,
        certificate="{}",
        policy_version=0,
        parents=(),
        document="",
        design="",
        digest=f"tree{number}",
        fingerprint=f"behaviour{number}",
        isolation="process",
        decision="{}",
    )
    record = dataclasses.replace(record, **changes)
    if record.id:
        return record
    identity = environment_id(record.setting, record.source, record.hint)
    return dataclasses.replace(record, id=identity)


def make_design(number: int = 0, shard: int = 1, **changes: Any) -> DesignRecord:
    record = DesignRecord(
        id=record_id("design", shard, number),
        shard=shard,
        brief='{"skill": "spatial_reasoning"}',
        group="000001-000",
        prompt_ids=(1, 2, 3),
        ids=(4, 5),
        logprobs=(-0.25, -1.0 / 3.0),
        text="```python\n```\nhint: none",
        text_only=False,
        temperature=1.0,
        seed=2**62 + number,
        policy_version=0,
        outcome="refused",
        stage="solvable",
        reason="certificate",
        detail="solution() does not win",
        environment="",
        reward=0.0,
    )
    return dataclasses.replace(record, **changes)


def make_play(number: int = 0, **changes: Any) -> PlayRecord:
    record = PlayRecord(
        id=record_id("play", number),
        environment="e",
        seed=number,
        arm="hinted" if number % 2 else "unhinted",
        purpose="probe",
        episode_return=0.1,
        turns=2,
        fault="",
        stop="terminated",
        policy_version=0,
        temperature=1.0,
        ids=(7, 8, 9),
        mask=(0, 1, 1),
        logprobs=(0.0, -0.1, -0.2),
        transcript='[{"role": "user", "content": "hello \\ud83d"}]',
    )
    return dataclasses.replace(record, **changes)


def make_standing(environment: str, version: int = 0, **changes: Any) -> StandingRecord:
    record = StandingRecord(
        environment=environment,
        policy_version=version,
        plays_unhinted=8,
        plays_hinted=8,
        return_unhinted=0.5,
        return_hinted=0.75,
        regret=0.25,
        regret_low=0.0,
        regret_high=0.5,
        status="frontier",
        hint_only=False,
        updated=1,
    )
    return dataclasses.replace(record, **changes)


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """Makers of records, each with sensible values and any field changed by keyword."""
    return SimpleNamespace(
        environment=make_environment, design=make_design, play=make_play, standing=make_standing
    )


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The real model, loaded once for the whole session."""
    return Embedder()


@pytest.fixture
def open_store(tmp_path: Path, embedder: Embedder) -> Iterator[Callable[..., Store]]:
    """Open stores that share the loaded model and are closed at the end."""
    opened: list[Store] = []

    def open_(name: str = "store", **config: Any) -> Store:
        settings = MemoryConfig(fresh_s=0.0, **config)
        store = Store.open(tmp_path / name, settings, create=True, embedder=embedder)
        opened.append(store)
        return store

    yield open_
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[..., Store]) -> Store:
    """An empty store."""
    return open_store()


@pytest.fixture
def full(store: Store) -> Store:
    """A store with one shard of ten environments, the first five of them measured."""
    return fill(store)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Store]:
    """The same store as ``full``, embedded, shared by tests that only read."""
    root = tmp_path_factory.mktemp("library") / "store"
    with Store.open(root, MemoryConfig(), create=True, embedder=embedder) as store:
        fill(store).embed()
        yield store


def fill(store: Store) -> Store:
    records = [make_environment(number) for number in range(len(ABOUT))]
    figures = ((0.5, 0.25), (0.95, 0.0), (0.0, 0.1), (0.4, 0.5), (0.3, 0.05))
    statuses = ("frontier", "mastered", "hopeless", "frontier", "frontier")
    standings = [
        make_standing(record.id, return_unhinted=value, regret=regret, status=status)
        for record, (value, regret), status in zip(records, figures, statuses, strict=False)
    ]
    designs = [make_design(number) for number in range(3)]
    plays = [make_play(number, environment=records[0].id) for number in range(4)]
    store.publish(1, records, designs, plays, standings, meta={"policy_version": 0})
    return store
