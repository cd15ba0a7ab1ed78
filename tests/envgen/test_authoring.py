"""Rounds with a scripted author on the real certificate, sandbox and store: what a strong model would
be asked and how its answers are kept. The policy that ships is in ``test_producer``."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from envgen.config import CorpusConfig
from envgen.corpus import Corpus
from envgen.display import rates
from envgen.loop import selfplay
from envgen.playbook import as_meta, of_store, write
from envgen.producer import Round
from envgen.progress import Progress
from envgen.seeds import load as load_seeds
from envgen.workers import LocalWorkers
from envgen.workspace import Workspace
from memory import MemoryConfig, ShardData, Store
from sandbox import Pool, Sandbox, SandboxConfig
from solver.chat import Chat
from solver.policy import Bill, Completion, Sampling
from solver.versions import Versions
from spadekit.errors import BadInput
from spadekit.report import Report
from spadekit.settings import load
from spadework import RECIPES, SECTIONS

SEEDS = {seed.name: seed for seed in load_seeds()}
BEADS, JUGS = SEEDS["beads"], SEEDS["jugs"]
BROKEN = BEADS.source.replace("def solution(self)", "def answer(self)")
SMALL = (
    *(
        "designer.prompt=full",
        'designer.skills=["pattern_recognition"]',
        "designer.max_tokens=4000",
    ),
    *("producer.designs=2", "producer.designs_per_brief=2", "probe.plays=2", "solver.max_turns=12"),
    *("memory.measure_meaning=false",),
)
Script = Callable[[str, int], str]
"""From the conversation so far and how often the designer was asked before to the reply."""


class KilledError(Exception):
    """Where the process is killed."""


class Author:
    """A policy whose replies are written down: the designer's by ``script``, the player's the same."""

    version = 0
    context = 60_000
    forward_seconds = 0.0

    def __init__(self, script: Script, most: int = 1000) -> None:
        tokenizer = AutoTokenizer.from_pretrained(RECIPES.parent / "solver/embedded/weights")
        tokenizer.model_max_length = self.context
        self.chat = Chat(tokenizer)
        self.asked: list[str] = []
        self._script, self._most = script, most

    async def complete(self, prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        await asyncio.sleep(0)
        text = self.chat.tokenizer.decode(list(prompt_ids))
        reply = r"\boxed{1}"
        if "training environment" in text:
            if len(self.asked) >= self._most:
                raise KilledError
            self.asked.append(text)
            reply = self._script(text, len(self.asked) - 1)
        ids = (*self.chat.tokenizer.encode(reply), self.chat.close_id)
        return Completion(ids, (-0.5,) * len(ids), "end", 0)

    async def load(self, version_dir: Path) -> None:
        raise AssertionError("the version that serves need not be loaded")


@asynccontextmanager
async def workspace(home: Path, author: Author, *settings: str) -> AsyncIterator[Workspace]:
    found = load(RECIPES / "embedded.toml", (*SMALL, *settings), SECTIONS)
    with Store.open(home / "store", found.section(MemoryConfig), create=True) as store:
        async with Sandbox(found.section(SandboxConfig)) as sandbox, Pool(sandbox) as pool:
            yield Workspace(
                home=home,
                run="main",
                settings=found,
                report=Report(),
                store=store,
                versions=Versions(home / "policy"),
                policy=author,  # type: ignore[arg-type]
                sandbox=sandbox,
                pool=pool,
                workers=LocalWorkers(sandbox, pool, 4),
                corpus=Corpus.open(found.section(CorpusConfig), home / "corpus"),
                preferred_words=frozenset(),
            )


def produce(
    home: Path, author: Author, number: int, *settings: str
) -> tuple[Any, ShardData, list[Progress]]:
    heard: list[Progress] = []

    async def main() -> tuple[Any, ShardData]:
        async with workspace(home, author, *settings) as work:
            summary = await Round(work, number, 0, heard.append).run()
            return summary, work.store.shard(number)

    return *asyncio.run(main()), heard


def fenced(source: str, hint: str) -> str:
    return f"```python\n{source}```\nhint: {hint}"


def mending(text: str, asked: int) -> str:
    """First a program without a solution and one without a fence; told so, the mended one."""
    if "Your program was refused" in text:
        assert text.count("```python") >= 2, "the conversation so far is shown"
        return fenced(BEADS.source, BEADS.hint)
    return fenced(BROKEN, BEADS.hint) if asked == 0 else f"{JUGS.source}\nhint: {JUGS.hint}"


@pytest.fixture(scope="module")
def mended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ShardData, list[Progress]]:
    author = Author(mending)
    home = tmp_path_factory.mktemp("mended")
    return produce(home, author, 1, "designer.repair_turns=1")


def test_a_follow_up_is_a_design_of_its_own_with_the_conversation_as_its_prompt(
    mended: tuple[Any, ShardData, list[Progress]],
) -> None:
    _, data, _ = mended
    first, other, followed = data.designs
    assert [one.group for one in data.designs] == ["000001-000", "000001-000", "000001-000+1"]
    assert (first.outcome, first.stage, first.reward) == ("refused", "solvable", 0.0)
    assert followed.outcome == other.outcome == "admitted"
    assert followed.reward is not None
    begun = first.prompt_ids + first.ids
    assert followed.prompt_ids[: len(begun)] == begun
    assert len(followed.prompt_ids) > len(begun)
    assert "`solvable`" in Author(mending).chat.decode(followed.prompt_ids[len(begun) :])
    told = json.loads(followed.brief)
    assert (told["turn"], told["parent"]) == (1, first.id)
    assert told["prompt"].startswith("repair-")
    assert {one.id for one in data.designs if one.environment} == {other.id, followed.id}


def test_a_design_that_was_read_without_its_fence_is_marked_and_kept_as_written(
    mended: tuple[Any, ShardData, list[Progress]],
) -> None:
    summary, data, _ = mended
    marks = [json.loads(one.brief).get("repaired", "") for one in data.designs]
    assert marks == ["", "no fence", ""]
    assert data.designs[1].text == f"{JUGS.source}\nhint: {JUGS.hint}"
    figures = ("designs", "valid", "repaired", "repaired_valid", "follow_ups", "follow_ups_valid")
    assert [summary[name] for name in figures] == [3, 2, 1, 1, 1, 1]


def test_a_round_tells_of_every_step_and_ends_with_all_designs(
    mended: tuple[Any, ShardData, list[Progress]],
) -> None:
    summary, _, heard = mended
    steps = [now.step for now in heard]
    assert steps[0] == "begun"
    assert steps[-1] == "published"
    last = heard[-1]
    assert (last.designs, last.designed, last.followed, last.ended) == (2, 2, 1, 2)
    assert last.fell == {}
    assert last.plays == steps.count("played") == summary["plays"]
    assert last.tokens == summary["tokens"]


class Metered(Author):
    """An author behind an endpoint that counts its tokens and has a price."""

    def bill(self) -> Bill:
        return Bill(100 * len(self.asked), 10 * len(self.asked), 0.5 * len(self.asked))


def test_what_an_endpoint_counts_is_told_during_the_round_and_kept_over_kills(
    tmp_path: Path,
) -> None:
    with pytest.raises(ExceptionGroup, match="TaskGroup"):
        produce(tmp_path, Metered(mending, most=1), 1)
    summary, _, heard = produce(tmp_path, Metered(mending), 1)
    assert summary["bill"] == {"read": 200, "sampled": 20, "cost": 1.0}
    assert (heard[0].read, heard[0].tokens, heard[0].cost) == (100, 10, 0.5)
    assert (heard[-1].read, heard[-1].tokens, heard[-1].cost) == (200, 20, 1.0)
    assert rates(heard[-1]).endswith("20 tokens (200 read), cost 1.0000")


def test_a_round_killed_anywhere_asks_nothing_twice_and_ends_the_same(
    mended: tuple[Any, ShardData, list[Progress]], tmp_path: Path
) -> None:
    asked: list[str] = []

    def script(text: str, _: int) -> str:
        asked.append(text)
        return mending(text, len(asked) - 1)

    for _ in range(2):
        with pytest.raises(ExceptionGroup, match="TaskGroup"):
            produce(tmp_path, Author(script, most=1), 1, "designer.repair_turns=1")
    summary, data, heard = produce(tmp_path, Author(script), 1, "designer.repair_turns=1")
    assert len(asked) == 3
    assert data.designs == mended[1].designs
    assert [one.id for one in data.environments] == [one.id for one in mended[1].environments]
    assert data.plays == mended[1].plays
    assert summary["seconds"]["tries"] == 3
    assert summary["seconds"]["total"] > heard[0].seconds > 0
    assert heard[-1].tokens == mended[2][-1].tokens


def test_with_a_bound_of_one_a_design_is_begun_when_the_one_before_is_measured(
    tmp_path: Path,
) -> None:
    def script(text: str, asked: int) -> str:
        seed = (BEADS, JUGS)[asked]
        return fenced(seed.source, seed.hint)

    _, _, heard = produce(tmp_path, Author(script), 1, "producer.in_flight=1")
    order = [now.step for now in heard if now.step in ("designed", "measured")]
    assert order == ["designed", "measured", "designed", "measured"]


def test_a_hint_asked_for_apart_sees_the_program_and_the_program_is_not_blamed_for_it(
    tmp_path: Path,
) -> None:
    def script(text: str, asked: int) -> str:
        if "Write its hint" in text:
            good = BEADS.source.strip() in text
            return f"hint: {BEADS.hint}" if good else "hint: `x = 1`, then `def f(): return x`"
        seed = (BEADS, JUGS)[asked % 2]
        return f"```python\n{seed.source}```"

    author = Author(script)
    told = ("designer.hint=separate", "designer.repair_turns=1", "designer.learning=context")
    summary, data, _ = produce(tmp_path, author, 1, *told)
    assert sum("Write its hint" in text for text in author.asked) == 2
    good, bad = data.designs
    assert (good.outcome, bad.outcome, bad.stage) == ("admitted", "refused", "hint")
    assert bad.reward is None
    assert json.loads(bad.brief)["hint"]["prompt"].startswith("hint-")
    (environment,) = data.environments
    assert environment.hint == BEADS.hint

    # The next round's briefs hold the page that this round led to.
    with Store.open(tmp_path / "store") as store:
        assert as_meta(write(of_store(store))) == summary["playbook"]
    page = summary["playbook"]["pattern_recognition"]
    author = Author(script)
    produce(tmp_path, author, 2, *told)
    assert page["summary"] in author.asked[0]
    assert all(line in author.asked[0] for line in page["failed"])


def test_the_loop_does_not_train_a_designer_that_learns_from_its_context(tmp_path: Path) -> None:
    async def main(*settings: str) -> None:
        async with workspace(tmp_path, Author(mending), *settings) as work:
            await selfplay(work, 1)

    with pytest.raises(BadInput, match=r"train\.designer_weight = 0"):
        asyncio.run(main("designer.learning=context"))
