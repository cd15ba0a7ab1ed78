"""A row in an engine's process: the same episodes as anywhere, on the engine that OpenRLHF hands over.

The engine behind the calls is the local one; what stands between is shaped as vLLM's answers are.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memory import PlayRecord
from sandbox import Pool, Sandbox, SandboxConfig
from solver.config import PolicyConfig, SolverConfig
from solver.engines.local import LocalEngine
from solver.episodes import Job, play_many
from solver.openrlhf.layout import Layout
from solver.openrlhf.rollouts import Figures, Result, Rollouts, ranges, shown
from solver.openrlhf.rows import Row, Shown
from solver.openrlhf.run import Run, Spec
from solver.policy import Sampling
from spadekit.errors import OurFault

GAME = '''
class VowelsEnv:
    """Say many vowels."""
    def reset(self, seed=None):
        self.turn = 0
        return "say something", {}
    def step(self, action):
        self.turn += 1
        if "FAULT":
            raise ValueError
        vowels = sum(char in "aeiou" for char in action)
        return f"{vowels} so far", min(1.0, vowels / 10), self.turn == 2, False, {}
'''
GOOD, BROKEN = GAME.replace('"FAULT"', '""'), GAME
PLAYING = SolverConfig(max_tokens=10, max_turns=4, context=200, concurrency=4, temperature=1.0)
LAYOUT = Layout(play_rows=2, design_rows=1, row=4, plays=4, updates=1)


@dataclass
class Params:
    """The part of vLLM's sampling parameters that matters here."""

    temperature: float = 1.0
    max_tokens: int = 77
    min_tokens: int = 0
    stop_token_ids: list[int] = field(default_factory=list)
    skip_special_tokens: bool = True
    logprobs: int | None = 1


class Engine:
    """Answers as OpenRLHF's engine does, from the local engine; every request is kept."""

    def __init__(self, policy: LocalEngine) -> None:
        self.policy = policy
        self.asked: list[tuple[list[int], Params]] = []
        self.patch: Callable[[Any], Any] = lambda out: out
        self.delay_s = 0.0

    async def generate(self, prompt_ids: list[int], params: Params) -> Any:
        self.asked.append((prompt_ids, params))
        await asyncio.sleep(self.delay_s)
        sampling = Sampling(params.temperature, params.max_tokens, len(self.asked))
        got = await self.policy.complete(prompt_ids, sampling)
        out = SimpleNamespace(
            token_ids=list(got.ids),
            logprobs=[
                {one: SimpleNamespace(logprob=value)}
                for one, value in zip(got.ids, got.logprobs, strict=True)
            ],
            finish_reason="stop" if got.stop == "end" else "length",
        )
        return SimpleNamespace(outputs=[self.patch(out)])


@pytest.fixture
def engine(model_dir: Path) -> Any:
    policy = LocalEngine.open(model_dir, PolicyConfig(patience_s=0.05))
    yield Engine(policy)
    policy.close()


@pytest.fixture
def started(tmp_path: Path, model_dir: Path) -> Run:
    """A launch's folder with two rollouts per version."""
    run = Run(tmp_path / "run")
    spec = Spec(
        row=4,
        rollouts=2,
        reply_s=5.0,
        silence_s=1.0,
        model=str(model_dir),
        thinking="default",
        playing=PLAYING,
        sandbox=SandboxConfig(),
    )
    run.begin(spec, LAYOUT)
    return run


def jobs(source: str) -> tuple[Job, ...]:
    return tuple(Job("env", source, 5, None, 100 + member) for member in range(4))


def design(number: int) -> Shown:
    return Shown(
        (3, 30, 31, 40 + number, 1), (0, 0, 0, 1, 1), (0.0,) * 3 + (-1.0, -2.0), 0.5 - number, 0.7
    )


@asynccontextmanager
async def opened(run: Run) -> AsyncIterator[Rollouts]:
    rollouts = Rollouts(run.folder)
    try:
        yield rollouts
    finally:
        await rollouts.close()


async def sampled(rollouts: Rollouts, engine: Engine, index: int, count: int = 4) -> list[Result]:
    """Ask for a row as OpenRLHF does: its samples all at once, with one object of parameters."""
    params, label = Params(min_tokens=1), json.dumps({"row": index, "role": "solver"})
    calls = [rollouts.sample(label, params, 300, engine) for _ in range(count)]
    results = await asyncio.gather(*calls)
    assert params == Params(min_tokens=1)
    return results


def check(result: Result) -> None:
    """What OpenRLHF takes for granted, and would stumble over."""
    ids, spans = result["observation_tokens"], result["action_ranges"]
    assert len(result["rollout_log_probs"]) == len(ids)
    assert spans and all(0 < start < end <= len(ids) for start, end in spans)
    inside = {at for start, end in spans for at in range(start, end)}
    assert all(result["rollout_log_probs"][at] == 0.0 for at in range(len(ids)) if at not in inside)
    assert isinstance(result["reward"], float) and isinstance(result["scores"], float)
    assert set(result["extra_logs"]) == set(vars(Figures()))
    assert all(isinstance(value, float) for value in result["extra_logs"].values())


async def test_a_row_of_plays_is_what_the_same_jobs_give_on_the_engine_itself(
    started: Run, engine: Engine
) -> None:
    started.plan(0, [[Row(jobs=jobs(GOOD), scale=2.0, version=3, origin=("w",)), Row(), Row()], []])
    async with opened(started) as rollouts:
        results = await sampled(rollouts, engine, 0)
    for result in results:
        check(result)
    (played,) = started.played(0)
    assert [play.ids for play in played.plays] == [
        tuple(one["observation_tokens"]) for one in results
    ]
    assert {(play.policy_version, play.purpose, play.arm) for play in played.plays} == {
        (3, "train", "unhinted")
    }
    assert len({play.id for play in played.plays}) == 4
    returns = [play.episode_return or 0.0 for play in played.plays]
    assert [one["scores"] for one in results] == returns
    mean = sum(returns) / 4
    assert [one["reward"] for one in results] == pytest.approx([2 * (r - mean) for r in returns])
    async with Sandbox() as sandbox, Pool(sandbox) as pool:
        again = await play_many(engine.policy, pool, jobs(GOOD), PLAYING)
    assert [one.turns for one in again] == [one.turns for one in played.plays]
    assert [one.transcript[0] for one in again] == [
        json.loads(play.transcript)[0] for play in played.plays
    ]


async def test_every_reply_has_parameters_of_its_own_that_shape_nothing(
    started: Run, engine: Engine
) -> None:
    started.plan(0, [[Row(jobs=jobs(GOOD)), Row(), Row()], []])
    async with opened(started) as rollouts:
        await sampled(rollouts, engine, 0)
    params = [one for _, one in engine.asked]
    assert len({id(one) for one in params}) == len(params) >= 8
    assert {(one.temperature, one.min_tokens, one.logprobs) for one in params} == {(1.0, 0, 1)}
    assert all(one.max_tokens == PLAYING.max_tokens for one in params)
    assert all(one.stop_token_ids == sorted(engine.policy.chat.stop_ids) for one in params)


async def test_designs_are_shown_as_they_were_recorded_and_the_row_is_padded(
    started: Run, engine: Engine
) -> None:
    started.plan(0, [[Row(), Row(), Row(designs=(design(0), design(1)))], []])
    async with opened(started) as rollouts:
        results = await sampled(rollouts, engine, 2)
    for result in results:
        check(result)
    assert not engine.asked
    first = results[0]
    assert first["observation_tokens"] == [3, 30, 31, 40, 1] and first["reward"] == 0.5
    assert first["action_ranges"] == [(3, 5)] and first["scores"] == 0.7
    assert first["rollout_log_probs"] == [0.0, 0.0, 0.0, -1.0, -2.0]
    assert [one["extra_logs"]["role_designer"] for one in results] == [1.0, 1.0, 0.0, 0.0]
    assert [one["extra_logs"]["padding"] for one in results] == [0.0, 0.0, 1.0, 1.0]
    assert [(one["reward"], len(one["observation_tokens"])) for one in results[2:]] == [
        (0.0, 2)
    ] * 2


async def test_plays_that_the_environment_breaks_are_padding_and_neither_won_nor_lost(
    started: Run, engine: Engine
) -> None:
    started.plan(0, [[Row(jobs=jobs(BROKEN)), Row(), Row()], []])
    async with opened(started) as rollouts:
        results = await sampled(rollouts, engine, 0)
    for result in results:
        check(result)
    assert [one["extra_logs"]["padding"] for one in results] == [1.0] * 4
    (played,) = started.played(0)
    assert {play.fault for play in played.plays} == {"step:raised"}
    assert not started.faults(0)


async def test_a_row_is_in_the_next_rollout_whenever_it_is_sampled_again_by_any_process(
    started: Run, engine: Engine
) -> None:
    empty = Row()
    rollouts_of_0 = [[empty, empty, Row(designs=(design(n),))] for n in range(2)]
    started.plan(0, rollouts_of_0)
    started.plan(1, [[empty, empty, Row(designs=(design(5),))], [empty] * 3])
    async with opened(started) as one, opened(started) as other:
        seen = [
            (await sampled(process, engine, 2))[0]["observation_tokens"][3]
            for process in (one, other, other)
        ]
    assert seen == [40, 41, 45]


async def test_a_rollout_waits_for_its_plan_and_gives_up_when_nobody_plans(
    started: Run, engine: Engine
) -> None:
    async with opened(started) as rollouts:
        waiting = asyncio.create_task(sampled(rollouts, engine, 1))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        started.plan(0, [[Row()] * 3] * 2)
        assert len(await waiting) == 4
        await sampled(rollouts, engine, 1)
        with pytest.raises(OurFault, match="nothing was heard of `spadework train`"):
            await sampled(rollouts, engine, 1)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda out: vars(out).update(finish_reason="abort"), r"together \(abort\)"),
        (
            lambda out: vars(out).update(
                finish_reason="stop",
                token_ids=[30] * len(out.token_ids),
                logprobs=[{30: SimpleNamespace(logprob=-1.0)}] * len(out.token_ids),
            ),
            r"together \(stop\)",
        ),
        (
            lambda out: out.logprobs[0].update(
                {out.token_ids[0]: SimpleNamespace(logprob=float("nan"))}
            ),
            "together",
        ),
    ],
    ids=["given up", "ended without an end", "not a number"],
)
async def test_a_reply_that_cannot_be_right_is_our_fault_written_down_and_padded(
    started: Run, engine: Engine, damage: Callable[[Any], None], told: str
) -> None:
    def patch(out: Any) -> Any:
        damage(out)
        return out

    engine.patch = patch
    started.plan(0, [[Row(jobs=jobs(GOOD)), Row(), Row()], []])
    async with opened(started) as rollouts:
        results = await sampled(rollouts, engine, 0)
    assert [one["extra_logs"]["padding"] for one in results] == [1.0] * 4
    assert not started.played(0)
    (why,) = started.faults(0)
    assert re.search(told, why)


async def test_an_engine_that_does_not_answer_is_given_up_after_its_time(
    started: Run, engine: Engine
) -> None:
    spec = replace(started.spec(), reply_s=0.1)
    engine.delay_s = 5.0
    started.plan(0, [[Row(jobs=jobs(GOOD)), Row(), Row()], []])
    async with opened(started) as rollouts:
        rollouts._spec = spec
        await asyncio.wait_for(sampled(rollouts, engine, 0), 4.0)
    assert started.faults(0) == ["the engine gave no reply within 0.1 s"]


def record(value: float | None, mask: tuple[int, ...], own: bool = False) -> PlayRecord:
    ids = tuple(range(len(mask)))
    turns = [
        {"role": "assistant", "content": "", "stop": "end"} | ({"prompt": "own"} if own else {})
    ]
    turns *= sum(a and not b for a, b in zip(mask, (*mask[1:], 0), strict=True))
    return PlayRecord(
        *(
            "id",
            "env",
            0,
            "unhinted",
            "train",
            value,
            len(turns),
            "" if value is not None else "x:y",
        ),
        *("terminated", 0, 1.0, ids, mask, (-0.5,) * len(mask), json.dumps(turns)),
    )


def test_plays_are_compared_with_those_that_went_well() -> None:
    plays = [record(1.0, (0, 1)), record(None, (0, 1)), record(0.0, (0, 1)), record(0.5, (0, 0))]
    assert [(one.advantage, one.score) for one, _ in shown(plays, 2.0)] == [(1.0, 1.0), (-1.0, 0.0)]
    assert shown([record(None, (0,))], 1.0) == []


def test_a_play_of_several_sequences_is_several_samples_with_its_return() -> None:
    plays = [record(1.0, (0, 1, 0, 1), own=True), record(0.0, (0, 0, 1), own=True)]
    samples = [one for one, _ in shown(plays, 3.0)]
    assert [one.ids for one in samples] == [(0, 1), (2, 3), (0, 1, 2)]
    assert [one.advantage for one in samples] == pytest.approx([1.0, 1.0, -2.0])
    assert sum(one.advantage for one in samples) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ((), []),
        ((0, 0), []),
        ((1,), [(0, 1)]),
        ((0, 1, 1, 0, 1), [(1, 3), (4, 5)]),
        ((1, 0, 1, 1), [(0, 1), (2, 4)]),
    ],
)
def test_spans_are_where_the_mask_is_one(
    mask: tuple[int, ...], expected: list[tuple[int, int]]
) -> None:
    assert ranges(mask) == expected
