"""A service of a store whose texts are hostile, whose programs are real, and which no round had to fill."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from envgen.seeds import Seed, load
from memory import (
    DesignRecord,
    EnvironmentRecord,
    PlayRecord,
    StandingRecord,
    Store,
    environment_id,
)

from ..conftest import Living, living

ATTACK = '<script>alert("x")</script><img src=x onerror=alert(1)>\'"&{{7*7}}'
CHECKS = ("source", "loads", "solvable", "sealed")


def missing(what: str) -> NoReturn:
    """Skip what cannot be run here, saying why; under CI fail: nobody reads what CI skips."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} (CI is set, so this is no reason to skip)", pytrace=False)
    pytest.skip(what, allow_module_level=True)


def environment(
    seed: Seed, shard: int, *, title: str = "", source: str = "", parents: tuple[str, ...] = ()
) -> EnvironmentRecord:
    """Return a seed as a stored environment."""
    source = source or seed.source
    checks = [
        {"name": name, "verdict": "pass", "message": f"{name} is well", "evidence": {"seeds": 8}}
        for name in CHECKS
    ]
    return EnvironmentRecord(
        id=environment_id(seed.setting, source, seed.hint),
        shard=shard,
        setting=seed.setting,
        skills=seed.skills,
        title=title or f"The seed {seed.name}",
        description=title or f"The seed {seed.name}",
        source=source,
        hint=seed.hint,
        tools="",
        difficulty=seed.difficulty,
        certificate=json.dumps({"accepted": True, "checks": checks}),
        policy_version=0,
        parents=parents,
        document="",
        design="",
        digest=f"digest {seed.name} {title}",
        fingerprint="",
        isolation="nsjail",
        decision="",
    )


def standing(one: EnvironmentRecord, regret: float, version: int = 0) -> StandingRecord:
    """Return figures at the frontier."""
    return StandingRecord(
        environment=one.id,
        policy_version=version,
        plays_unhinted=8,
        plays_hinted=8,
        return_unhinted=0.4,
        return_hinted=0.4 + regret,
        regret=regret,
        regret_low=regret - 0.1,
        regret_high=regret + 0.1,
        status="frontier",
        hint_only=False,
        updated=version,
    )


def plays_of(one: EnvironmentRecord, text: str) -> list[PlayRecord]:
    """Return a lost play without the hint and a won one with it."""
    return [
        PlayRecord(
            id=f"{one.id[:18]}{number:02d}",
            environment=one.id,
            seed=3,
            arm=arm,
            purpose="probe",
            episode_return=float(arm == "hinted"),
            turns=1,
            fault="",
            stop="end",
            policy_version=0,
            temperature=1.0,
            ids=(),
            mask=(),
            logprobs=(),
            transcript=json.dumps(
                [
                    {"role": "user", "content": f"{text} {arm}"},
                    {"role": "assistant", "content": f"answer {arm}"},
                ]
            ),
        )
        for number, arm in enumerate(("unhinted", "hinted"))
    ]


def fill(home: Path) -> dict[str, EnvironmentRecord]:
    """Publish two shards and return their environments by name.

    ``hostile`` offers its moves by name, ``game`` only asks for an answer, ``tools`` is played by calls.
    """
    games = [seed for seed in load() if seed.setting == "game"]
    moves = next(seed for seed in games if seed.name == "harbour")
    tool = next(seed for seed in load() if seed.setting == "tool_use")
    hostile = environment(
        moves, 1, title=ATTACK, source=f"{moves.source}\n# {ATTACK} </pre></script>\n"
    )
    game = environment(games[0], 1, parents=(hostile.id,))
    tools = environment(tool, 2)
    with Store.open(home / "store", create=True) as store:
        meta = {
            "run": "main",
            "designs": 8,
            "admitted": 2,
            "duplicates": 1,
            "faulted": 0,
            "refused_at": {"solvable": 4, "diversity": 1, ATTACK: 1},
            "learnable": 0.5,
            "regret": 0.2,
            "return_unhinted": 0.4,
            "return_hinted": 0.6,
            "variety": {"vendi_share": 0.7},
            "plays": 32,
            "tokens": 12_345,
        }
        first = [*plays_of(hostile, ATTACK), *plays_of(game, "a game")]
        figures = [standing(hostile, 0.1), standing(game, 0.5)]
        store.publish(1, [hostile, game], [_design(1)], first, figures, meta=meta)
        store.publish(2, [tools], [], [], [], meta={"run": "main"})
        store.upsert_standings([standing(game, 0.3, version=1)])
    return {"hostile": hostile, "game": game, "tools": tools}


def _design(shard: int) -> DesignRecord:
    return DesignRecord(
        id="d" * 20,
        shard=shard,
        brief="{}",
        group="g",
        prompt_ids=(),
        ids=(1, 2),
        logprobs=(0.0, 0.0),
        text=ATTACK,
        text_only=False,
        temperature=1.0,
        seed=0,
        policy_version=0,
        outcome="refused",
        stage="solvable",
        reason="lost",
        detail=ATTACK,
        environment="",
        reward=0.0,
    )


class Opened(Living):
    """A running service that knows its environments by name."""

    known: dict[str, EnvironmentRecord]


@pytest.fixture(scope="package")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """A service of that store, without a stock."""
    home = tmp_path_factory.mktemp("pages") / "home"
    known = fill(home)
    with living(home, "service.stock=0", "service.watch_s=0.05") as service:
        opened = Opened(**vars(service))
        opened.known = known
        yield opened
