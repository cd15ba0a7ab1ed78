"""The ids that were sampled are the ids that are trained, byte for byte, whatever the chat template.

Every family plays a game and a tool-use environment over five turns. Its replies are tokenised as no
encoder would, one symbol at a time, so that text which was decoded and encoded again would show. What
the model saw and said lies in ``tests/golden/tokens``, sampled parts between ⟦ and ⟧; write it again
with ``pytest tests/solver/test_golden_tokens.py --golden`` and read the difference.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memory import PlayRecord
from sandbox import Pool, Sandbox, SandboxConfig
from solver.chat import Chat, Thinking
from solver.episodes import Play, play
from solver.policy import Completion, Sampling
from solver.samples import from_plays
from solver.sequences import sequences
from tests.solver.families import make_tokenizer

GOLDEN = Path(__file__).parents[1] / "golden" / "tokens"
GAME = '''
class LockEnv:
    """Reach the lock."""
    def reset(self, seed=None):
        self.turn = 0
        return "You are at 3, the lock is at 7.", {}
    def step(self, action):
        self.turn += 1
        done = "step 4" in action
        return f"{action!r}: still {5 - self.turn} away", float(done), done, False, {}
'''
TOOLS = '''
from envkit import ToolUseEnv
class ParcelEnv(ToolUseEnv):
    """Find parcels."""
    def build(self, rng):
        self.state = {"found": set()}
        self.ask("Where is the parcel of A. Ito?", until=lambda s: "A. Ito" in s["found"])
        self.ask("And that of B. Roe?", until=lambda s: "B. Roe" in s["found"])
    def tool_find(self, name: str) -> str:
        """Find a parcel.

        name: whose
        """
        self.state["found"].add(name)
        return f"shelf {len(name)}"
    def solution(self): return [{"name": "find", "arguments": {"name": "A. Ito"}}]
'''


class Manner(NamedTuple):
    """A family, its switch, and whether its model reasons."""

    family: str
    thinking: Thinking
    reasons: bool
    separate: bool


MANNERS = {
    "qwen3": Manner("qwen3", "default", True, True),
    "qwen3_off": Manner("qwen3", "off", False, True),
    "llama3": Manner("llama3", "default", False, False),
    "chatml": Manner("chatml", "default", False, False),
    "chatml_reasoning": Manner("chatml", "default", True, False),
    "r1": Manner("r1", "default", True, True),
}


class Said(NamedTuple):
    """One sampled reply; ``stop`` is "length" for one that was cut."""

    text: str
    stop: str = "end"


class Script:
    """A policy that says given texts in pieces of one symbol."""

    version = 2
    context = 20_000
    forward_seconds = 0.0

    def __init__(self, chat: Chat, replies: Sequence[Said]) -> None:
        self.chat, self.replies = chat, replies
        self.asked: list[tuple[int, ...]] = []
        self.sampled: list[tuple[int, ...]] = []
        self.logprobs: list[tuple[float, ...]] = []

    async def complete(self, prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        reply = self.replies[len(self.asked)]
        ids = [*pieces(self.chat.tokenizer, reply.text)]
        if reply.stop == "end":
            ids.append(self.chat.close_id)
        drawn = sum(map(len, self.sampled))
        self.asked.append(tuple(prompt_ids))
        self.sampled.append(tuple(ids))
        # No two alike: what belongs to which token can be told.
        self.logprobs.append(tuple(-0.001 * (drawn + place + 1) for place in range(len(ids))))
        stop = "end" if reply.stop == "end" else "length"
        return Completion(self.sampled[-1], self.logprobs[-1], stop, 2)  # type: ignore[arg-type]

    async def load(self, version_dir: Path) -> None:
        raise AssertionError("no test switches the script")


def pieces(tokenizer: Any, text: str) -> list[int]:
    """Ids of a text that spell its ordinary words symbol by symbol."""
    ids: list[int] = []
    for token in tokenizer.encode(text, add_special_tokens=False):
        if token in tokenizer.added_tokens_decoder:
            ids.append(token)
        else:
            symbols = tokenizer.convert_ids_to_tokens(token)
            ids += [tokenizer.convert_tokens_to_ids(symbol) for symbol in symbols]
    return ids


def replies(manner: Manner, game: bool, chat: Chat) -> list[Said]:
    """Five replies; one was cut while it thought, or wrote no call that can be read."""
    opening = "" if chat.opened else "<think>\n"
    thought = f"{opening}Is it 7? \\boxed{{no}}\n</think>\n\n" if manner.reasons else ""
    if game:
        said = [f"{thought}I go.\n\\boxed{{step {turn}}} " for turn in range(5)]
    else:
        names = ["C. Orr", "A. Ito", "", "D. Kay", "B. Roe"]
        form = '{{"name": "find", "parameters": {{"name": "{}"}}}}'
        if chat.dialect == "hermes":
            form = '<tool_call>\n{{"name": "find", "arguments": {{"name": "{}"}}}}\n</tool_call>'
        said = [thought + form.format(name) for name in names]
        said[2] = thought + ("<tool_call>{find}" if chat.dialect == "hermes" else '{"name": find}')
        if chat.dialect == "llama3":
            said[3] = "<|python_tag|>" + said[3]
    turns = [Said(text) for text in said]
    if manner.reasons:
        turns[2] = Said(f"{opening}Is it 7? \\boxed{{no", "length")
    elif game:
        turns[2] = Said("I go.\n\\boxed{ste", "length")
    return turns


async def played(name: str, game: bool) -> tuple[Play, Script]:
    """Play with a family's scripted model."""
    manner = MANNERS[name]
    chat = Chat(make_tokenizer(manner.family), thinking=manner.thinking)
    script = Script(chat, replies(manner, game, chat))
    async with (
        Sandbox(SandboxConfig()) as sandbox,
        Pool(sandbox) as pool,
        pool.lease(GAME if game else TOOLS) as jail,
    ):
        done = await play(
            script,
            jail,
            seed=1,
            hint=None,
            sampling=Sampling(1.0, 2000, 0),
            max_turns=5,
            prompt="full",
        )
    return done, script


def record_of(done: Play) -> PlayRecord:
    """The row of the store."""
    return done.record(id="p", environment="e", purpose="train", arm="unhinted")


def shown(tokenizer: Any, record: PlayRecord) -> str:
    """The sequences of a play as text, what was sampled between brackets."""
    out = []
    for number, one in enumerate(sequences(record), 1):
        spans: list[tuple[int, list[int]]] = []
        for token, sampled in zip(one.ids, one.mask, strict=True):
            if not spans or spans[-1][0] != sampled:
                spans.append((sampled, []))
            spans[-1][1].append(token)
        texts = [
            f"⟦{tokenizer.decode(ids)}⟧" if sampled else tokenizer.decode(ids)
            for sampled, ids in spans
        ]
        out.append(f"=== sequence {number}{' (cut)' if one.cut else ''}\n{''.join(texts)}\n")
    return "".join(out)


@pytest.mark.parametrize("setting", ["game", "tools"])
@pytest.mark.parametrize("name", MANNERS)
async def test_sampled_ids_are_the_ids_trained(
    name: str, setting: str, request: pytest.FixtureRequest
) -> None:
    done, script = await played(name, setting == "game")
    assert (done.turns, done.stop, done.fault) == (5, "terminated", ""), done.transcript
    assert script.chat.tokenizer.encode(
        script.chat.decode(script.sampled[0]), add_special_tokens=False
    ) != list(script.sampled[0][:-1])

    batch = from_plays([record_of(done)])
    trained = [
        [(t, logp) for t, logp, m in zip(one.ids, one.logprobs, one.mask, strict=True) if m]
        for one in batch.samples
    ]
    turns = [
        list(zip(ids, logp, strict=True))
        for ids, logp in zip(script.sampled, script.logprobs, strict=True)
    ]
    if MANNERS[name].separate:
        assert trained == turns
        for sample, asked, said in zip(batch.samples, script.asked, script.sampled, strict=True):
            assert sample.ids == asked + said
    else:
        assert trained == [[pair for turn in turns for pair in turn]]
        (sample,) = batch.samples
        assert sample.ids == script.asked[-1] + script.sampled[-1]
        for earlier, later in zip(script.asked, script.asked[1:], strict=False):
            assert later[: len(earlier)] == earlier

    text = shown(script.chat.tokenizer, record_of(done))
    file = GOLDEN / f"{name}_{setting}.txt"
    if request.config.getoption("--golden"):
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MANNERS)
async def test_what_was_thought_is_no_action_and_reasoning_without_an_end_costs_the_turn(
    name: str,
) -> None:
    done, script = await played(name, game=True)
    heard = [one["content"] for one in done.transcript if one["role"] == "user"]
    reasons = MANNERS[name].reasons
    assert done.faults == (("unfinished",) if reasons else ())
    assert done.cut == 1
    assert heard[1].startswith(r"'\\boxed{step 0}'")
    assert ("reasoning" in heard[3]) == reasons
    if MANNERS[name].separate:
        assert all("Is it 7" not in script.chat.tokenizer.decode(prompt) for prompt in script.asked)


@pytest.mark.parametrize("name", MANNERS)
async def test_a_tool_call_that_cannot_be_read_is_a_typed_fault_that_costs_the_turn(
    name: str,
) -> None:
    done, _ = await played(name, game=False)
    kind = {"llama3": "json", "qwen3_off": "unclosed", "chatml": "unclosed"}.get(name, "unfinished")
    assert done.faults == (kind,)
    replies = [one for one in done.transcript if one["role"] == "assistant"]
    assert [one.get("fault", "") for one in replies] == ["", "", kind, "", ""]
    told = [one["content"] for one in done.transcript if one["role"] == "tool"]
    assert "error" in json.loads(told[2])
    assert done.episode_return == 1.0


async def test_the_sequences_of_an_episode_count_as_one(tmp_path: Path) -> None:
    done, _ = await played("qwen3", game=True)
    parts = sequences(record_of(done))
    assert [part.share for part in parts] == [0.2] * 5
    assert [part.cut for part in parts] == [False, False, True, False, False]
