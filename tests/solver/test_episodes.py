"""Playing in the real sandbox: what was sampled is what is kept, and every fault has an owner."""

import json
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox import Pool, Sandbox, SandboxConfig
from solver.chat import Chat
from solver.config import PolicyConfig, SolverConfig
from solver.engines.local import LocalEngine
from solver.episodes import Job, Play, play, play_many
from solver.policy import Completion, Sampling

GAME = '''
class EchoEnv:
    """Say something."""
    def __init__(self, max_turns=5, **kwargs): self.max_turns = max_turns
    def reset(self, seed=None):
        self.seed, self.turn = seed, 0
        return f"you are at {seed % 10}", {}
    def step(self, action):
        self.turn += 1
        if "crash" in action: raise ZeroDivisionError
        done = "win" in action or self.turn == self.max_turns
        return f"turn {self.turn}: {action!r}", float("win" in action), done, False, {}
'''
TOOLS = '''
from envkit import ToolUseEnv
class ParcelEnv(ToolUseEnv):
    """Find parcels."""
    def build(self, rng):
        self.state = {"found": False}
        self.ask("Where is the parcel of A. Ito?", until=lambda s: s["found"])
    def tool_find(self, name: str) -> str:
        """Find a parcel.

        name: whose
        """
        self.state["found"] = name == "A. Ito"
        return "shelf 3" if self.state["found"] else "nothing"
    def solution(self): return [{"name": "find", "arguments": {"name": "A. Ito"}}]
'''
BROKEN = '''
class BrokenEnv:
    """Never starts."""
    def reset(self, seed=None): raise KeyError("no")
    def step(self, action): return "", 0.0, True, False, {}
'''


class Script:
    """A policy that says given texts in turn: the way to make replies no sampler would."""

    version = 3
    context = 2000
    forward_seconds = 0.0

    def __init__(self, tokenizer: Any, replies: Sequence[str]) -> None:
        self.chat = Chat(tokenizer)
        self.replies = list(replies)
        self.prompts: list[tuple[int, ...]] = []

    async def complete(self, prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        self.prompts.append(tuple(prompt_ids))
        text = self.replies[len(self.prompts) - 1]
        ids = self.chat.tokenizer.encode(text, add_special_tokens=False)
        ids = (*ids[: sampling.max_tokens], self.chat.tokenizer.eos_token_id)
        stop = "end" if len(ids) <= sampling.max_tokens else "length"
        ids = ids[: sampling.max_tokens]
        return Completion(ids, (-0.5,) * len(ids), "end" if stop == "end" else "length", 3)

    async def load(self, version_dir: Path) -> None:
        raise AssertionError("no test switches the script")

    def close(self) -> None:
        pass


@asynccontextmanager
async def pool(config: SandboxConfig = SandboxConfig()) -> AsyncIterator[Pool]:  # noqa: B008 - frozen
    async with Sandbox(config) as sandbox, Pool(sandbox) as opened:
        yield opened


async def play_script(
    tokenizer: Any, source: str, replies: Sequence[str], hint: str | None = None, **rules: Any
) -> tuple[Play, Script]:
    script = Script(tokenizer, replies)
    settings: dict[str, Any] = {"max_turns": 5, "prompt": "short", "max_tokens": 200, **rules}
    sampling = Sampling(1.0, settings.pop("max_tokens"), 0)
    async with pool() as opened, opened.lease(source) as jail:
        done = await play(script, jail, seed=17, hint=hint, sampling=sampling, **settings)
    return done, script


@pytest.mark.parametrize("name", ["embedded", "chatml", "llama3"])
async def test_sampled_ids_are_the_ids_kept_over_five_turns(
    name: str, templates: dict[str, str], tokenizer_with: Any, model_dir: Path, tmp_path: Path
) -> None:
    shutil.copytree(model_dir, tmp_path, dirs_exist_ok=True)
    tokenizer_with(templates[name]).save_pretrained(tmp_path)
    engine = LocalEngine.open(tmp_path, PolicyConfig())
    sampled: list[Completion] = []
    complete = engine.complete

    async def spy(prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        sampled.append(await complete(prompt_ids, sampling))
        return sampled[-1]

    engine.complete = spy  # type: ignore[method-assign]
    async with pool() as opened, opened.lease(GAME) as jail:
        done = await play(
            engine,
            jail,
            seed=4,
            hint=None,
            sampling=Sampling(1.0, 12, 9),
            max_turns=5,
            prompt="short",
        )
    engine.close()
    assert done.turns == len(sampled) == 5
    kept = [token for token, mask in zip(done.ids, done.mask, strict=True) if mask]
    assert kept == [token for completion in sampled for token in completion.ids]
    logprobs = [value for value, mask in zip(done.logprobs, done.mask, strict=True) if mask]
    assert logprobs == [value for completion in sampled for value in completion.logprobs]
    assert all(v == 0.0 for v, mask in zip(done.logprobs, done.mask, strict=True) if not mask)
    texts = [entry["content"] for entry in done.transcript if entry["role"] == "assistant"]
    assert texts == [engine.chat.decode(completion.ids) for completion in sampled]


async def test_each_prompt_begins_with_everything_before_it(
    tokenizer_with: Any, templates: Any
) -> None:
    tokenizer = tokenizer_with(templates["embedded"])
    done, script = await play_script(tokenizer, GAME, ["left", "right", "win"])
    for shorter, longer in zip(script.prompts, script.prompts[1:], strict=False):
        assert longer[: len(shorter)] == shorter
    assert tokenizer.decode(done.ids) == (
        "<|user|>you are at 7<|end|><|assistant|>left<|end|><|user|>turn 1: 'left'<|end|>"
        "<|assistant|>right<|end|><|user|>turn 2: 'right'<|end|><|assistant|>win<|end|>"
    )
    assert (done.episode_return, done.stop, done.turns, done.version) == (1.0, "terminated", 3, 3)


@pytest.mark.parametrize(
    "reply", ["", "   \n ", "x" * 5000, "\u202e\u0000\ud7ff☃\U0001f600", "<|user|>"]
)
async def test_odd_replies_consume_a_turn(reply: str, tokenizer_with: Any, templates: Any) -> None:
    tokenizer = tokenizer_with(templates["embedded"])
    done, _ = await play_script(tokenizer, GAME, [reply] * 9, max_turns=3)
    assert (done.turns, done.stop, done.fault, done.episode_return) == (3, "turns", "", 0.0)


async def test_a_boxed_answer_reaches_the_game_with_its_box(
    tokenizer_with: Any, templates: Any
) -> None:
    tokenizer = tokenizer_with(templates["embedded"])
    done, _ = await play_script(tokenizer, GAME, [r"think \boxed{a} so \boxed{b{c}}", "win"])
    assert done.transcript[2]["content"] == "turn 1: '\\\\boxed{b{c}}'"


async def test_a_reply_cut_at_its_length_is_kept_and_closed(
    tokenizer_with: Any, templates: Any
) -> None:
    tokenizer = tokenizer_with(templates["embedded"])
    done, script = await play_script(tokenizer, GAME, ["left " * 20, "win"], max_tokens=6)
    assert done.cut == 1 and done.transcript[1]["stop"] == "length"
    assert sum(done.mask[: len(script.prompts[1])]) == 6
    end = len(script.prompts[0]) + 6
    assert done.ids[end] == tokenizer.eos_token_id and done.mask[end] == 0


async def test_a_full_context_ends_the_play_without_a_fault(
    tokenizer_with: Any, templates: Any
) -> None:
    tokenizer = tokenizer_with(templates["embedded"])
    done, _ = await play_script(tokenizer, GAME, ["left"] * 9, context=40)
    assert (done.stop, done.fault, done.episode_return) == ("context", "", 0.0)
    assert 1 <= done.turns < 5 and len(done.ids) <= 40


async def test_an_observation_beyond_the_models_context_ends_the_play(model_dir: Path) -> None:
    flood = GAME.replace('f"you are at {seed % 10}"', '"far " * 5000')
    engine = LocalEngine.open(model_dir, PolicyConfig())
    async with pool() as opened:
        (done,) = await play_many(engine, opened, [Job("e", flood, 1, None, 1)], SolverConfig())
        async with opened.lease(flood) as jail:
            rules = {"sampling": Sampling(1.0, 8, 0), "max_turns": 3, "prompt": "short"}
            again = await play(engine, jail, seed=1, hint=None, **rules)  # type: ignore[arg-type]
    engine.close()
    for one in (done, again):
        assert (one.stop, one.turns, one.fault, one.episode_return) == ("context", 0, "", 0.0)


async def test_the_hint_is_shown_after_the_first_observation(
    tokenizer_with: Any, templates: Any
) -> None:
    tokenizer = tokenizer_with(templates["embedded"])
    done, _ = await play_script(tokenizer, GAME, ["win"], hint="say win")
    assert done.hinted and done.transcript[0]["content"] == "you are at 7\nhint: say win"
    full, _ = await play_script(tokenizer, GAME, ["win"], hint="say win", prompt="full")
    assert [entry["role"] for entry in full.transcript] == ["system", "user", "assistant", "user"]
    assert "\\boxed{...}" in full.transcript[0]["content"]
    assert full.transcript[1]["content"] == "you are at 7\n\nHint: say win"


async def test_the_environments_faults_are_data(tokenizer_with: Any, templates: Any) -> None:
    tokenizer = tokenizer_with(templates["embedded"])
    done, _ = await play_script(tokenizer, GAME, ["left", "crash"])
    assert (done.episode_return, done.stop, done.turns) == (None, "fault", 2)
    assert done.fault == "step:raised"
    broken, _ = await play_script(tokenizer, BROKEN, [])
    assert (broken.episode_return, broken.fault, broken.turns) == (None, "reset:raised", 0)


async def test_malformed_tool_calls_are_counted_consume_a_turn_and_run_nothing(
    tokenizer_with: Any, templates: Any
) -> None:
    tokenizer = tokenizer_with(templates["embedded"])
    call = '<tool_call>{"name": "find", "arguments": {"name": "A. Ito"}}</tool_call>'
    unnamed = '<tool_call>{"name": 3}</tool_call>'
    bad = ["<tool_call>{broken</tool_call>" + call, "<tool_call>", unnamed]
    done, _ = await play_script(tokenizer, TOOLS, [*bad, call], max_turns=6)
    assert (done.malformed, done.turns, done.episode_return) == (3, 4, 1.0)
    tool = [entry["content"] for entry in done.transcript if entry["role"] == "tool"]
    assert [("malformed tool call" in content) for content in tool] == [True, True, True, False]
    told = {"error": "malformed tool call: a <tool_call> without </tool_call>"}
    assert json.loads(tool[1]) == told
    assert "shelf 3" in tool[3]


@pytest.mark.parametrize(
    ("config", "source", "reply", "last"),
    [
        (SandboxConfig(), GAME, "\u2603" * 15_000, "win"),
        (SandboxConfig(frame_bytes=16_384, log_bytes=2_048), GAME, "x" * 20_000, "win"),
        (
            SandboxConfig(),
            TOOLS,
            "\u2603" * 15_000,
            '<tool_call>{"name": "find", "arguments": {"name": "A. Ito"}}</tool_call>',
        ),
    ],
    ids=["game", "small frames", "tools"],
)
async def test_an_over_long_action_costs_the_policy_its_turn(
    config: SandboxConfig, source: str, reply: str, last: str, tokenizer_with: Any, templates: Any
) -> None:
    tokenizer = tokenizer_with(templates["embedded"])
    script = Script(tokenizer, [reply, last])
    script.context = 200_000
    async with pool(config) as opened, opened.lease(source) as jail:
        sampling = Sampling(1.0, 90_000, 0)
        done = await play(
            script, jail, seed=1, hint=None, sampling=sampling, max_turns=4, prompt="short"
        )
    assert (done.malformed, done.turns, done.fault, done.episode_return) == (1, 2, "", 1.0)
    assert "too long" in done.transcript[2]["content"]


async def test_tools_that_no_template_can_show_are_the_environments_fault(
    tokenizer_with: Any, templates: Any
) -> None:
    strict = "{% if tools and tools[0].function.name == 'find' %}{{ tools.no.such }}{% endif %}"
    done, _ = await play_script(tokenizer_with(strict + templates["embedded"]), TOOLS, [])
    assert (done.fault, done.stop, done.turns) == ("load:contract", "fault", 0)


async def test_many_plays_come_back_in_order_and_repeat_to_the_bit(model_dir: Path) -> None:
    jobs = [
        Job("echo" if n % 2 else "broken", GAME if n % 2 else BROKEN, n, None, 100 + n)
        for n in range(20)
    ]
    jobs.sort(key=lambda job: job.environment)
    config = SolverConfig(max_tokens=8, max_turns=3, concurrency=6, sources=1)

    async def once() -> list[Play]:
        engine = LocalEngine.open(model_dir, PolicyConfig())
        async with pool() as opened:
            plays = await play_many(engine, opened, jobs, config)
        engine.close()
        return plays

    first = await once()
    assert [one.seed for one in first] == [job.seed for job in jobs]
    assert [one.fault for one in first] == ["reset:raised"] * 10 + [""] * 10
    assert await once() == first
