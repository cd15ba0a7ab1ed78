"""What the warm-up teaches, that it can be killed, and the policy that comes of it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import spadework
from solver import manifest
from solver.chat import Chat, Spoken
from solver.config import PolicyConfig
from solver.embedded import data
from solver.engines.local import LocalEngine
from solver.shapes import KNOWN
from solver.smollm2 import convert, lessons, warmup
from solver.smollm2.assemble import SHIPPED, assemble
from solver.smollm2.warmup import Facts, Recipe, loss_of, packed, rate_at, warm_up
from solver.versions import Versions
from solver.weights import load_model, read_weights
from spadekit.errors import BadInput
from tests.solver.conftest import CHATML, make_model, make_tokenizer

SMALL = Recipe(seed=3, rank=4, alpha=8, rate=1e-2, designs=1, plays=2, rise=2, steps=4, threads=1)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny.plain"
    make_model().to(torch.bfloat16).save_pretrained(folder)
    make_tokenizer(CHATML).save_pretrained(folder)
    manifest.write(folder, {})
    return folder


@pytest.fixture(scope="module")
def chat(plain: Path) -> Chat:
    return warmup.chat_of(plain)


def untold(_: Facts) -> None:
    pass


def tensors(path: Path) -> dict[str, torch.Tensor]:
    return warmup.read(path)[1]


def test_a_lesson_depends_on_seed_and_step_alone() -> None:
    one = lessons.lesson(1, 7, 2, 3)
    assert one == lessons.lesson(1, 7, 2, 3)
    assert one != lessons.lesson(1, 8, 2, 3) and one != lessons.lesson(2, 7, 2, 3)
    assert [talk[-1].text.startswith("```python") for talk in one] == [True] * 2 + [False] * 3


def test_designs_come_from_a_book_that_is_read_again_and_plays_are_always_new() -> None:
    def texts(step: int) -> list[str]:
        return ["\n".join(one.text for one in talk) for talk in lessons.lesson(1, step, 4, 2)]

    first, again = texts(0), texts(lessons.BOOK // 4)
    assert first[:4] == again[:4] and first[4:] != again[4:]
    asked = {
        text.split("\nskill ")[1].split("\n")[0] for step in (0, 1) for text in texts(step)[:4]
    }
    assert asked == set(lessons.SKILLS)


def test_conversations_are_encoded_as_the_template_renders_them(chat: Chat) -> None:
    rng = Random(5)
    talks = [data.play(rng)[0] for _ in range(40)] + [data.design(rng)[0] for _ in range(5)]
    assert {"system", "tool"} <= {segment.role for talk in talks for segment in talk}
    assert any(len(talk) > 6 for talk in talks)
    for talk in talks:
        ids, mask = lessons.encode(chat, talk)
        said = [{"role": segment.role, "content": segment.text} for segment in talk]
        text = chat.tokenizer.apply_chat_template(said, tokenize=False)
        assert chat.tokenizer.decode(ids) + "\n" == text
        counted = [token for token, one in zip(ids, mask, strict=True) if one]
        replies = [segment.text + "<|im_end|>" for segment in talk if segment.trained]
        assert chat.tokenizer.decode(counted) == "".join(replies)


def test_tools_are_told_as_in_the_lessons(chat: Chat) -> None:
    def tool(name: str, *arguments: str) -> dict[str, Any]:
        parameters = {"type": "object", "properties": {one: {} for one in arguments}}
        return {"type": "function", "function": {"name": name, "parameters": parameters}}

    shown = chat.start([Spoken("user", "put up")], [tool("put", "name", "value"), tool("list")])
    told = [Spoken("system", "tools put(name, value) list()"), Spoken("user", "put up")]
    assert shown == chat.start(told)
    assert chat.manner.shows_tools and not chat.manner.no_tools and not chat.separate


def test_rows_are_packed_within_the_limit_and_padding_costs_no_loss(
    chat: Chat, plain: Path
) -> None:
    rows = [lessons.encode(chat, talk) for talk in lessons.lesson(0, 0, 1, 5)]
    batches = packed(rows, 600)
    assert sorted(map(len, (ids for batch in batches for ids, _ in batch))) == sorted(
        len(ids) for ids, _ in rows
    )
    assert all(len(batch) == 1 or len(batch) * len(batch[-1][0]) <= 600 for batch in batches)
    assert any(len(batch) > 1 for batch in batches)
    model = load_model(plain)
    with torch.no_grad():
        whole = sum(loss_of(model, batch)[0] for batch in batches)
        ones = sum(loss_of(model, [row])[0] for row in rows)
        logp = model(torch.tensor([rows[0][0]])).logits[0].log_softmax(-1)
    assert float(whole) == pytest.approx(float(ones), rel=1e-5)
    ids, mask = rows[0]
    by_hand = -sum(float(logp[at - 1, ids[at]]) for at in range(1, len(ids)) if mask[at])
    with torch.no_grad():
        assert float(loss_of(model, [rows[0]])[0]) == pytest.approx(by_hand, rel=1e-5)


@pytest.mark.parametrize(("step", "share"), [(0, 0.5), (1, 0.755), (2, 0.51), (3, 0.265)])
def test_the_rate_rises_then_falls(step: int, share: float) -> None:
    assert rate_at(SMALL, step) == pytest.approx(SMALL.rate * share)


def test_what_was_killed_goes_on_and_ends_as_it_would_have(plain: Path, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def kill(facts: Facts) -> None:
        if facts.step == 3:  # two steps are saved
            raise Killed

    eager = replace(SMALL, save_s=0.0)
    with pytest.raises(Killed):
        warm_up(plain, tmp_path / "killed", eager, kill)
    heard: list[int] = []
    late = warm_up(plain, tmp_path / "killed", eager, lambda facts: heard.append(facts.step))
    assert heard == [3, 4]
    whole = warm_up(plain, tmp_path / "whole", SMALL, untold)
    ours, theirs = tensors(late), tensors(whole)
    assert ours.keys() == theirs.keys() and all(torch.equal(ours[n], theirs[n]) for n in ours)
    told = [warmup.read(path)[0] for path in (late, whole)]
    assert [one["tokens"] for one in told] == [told[0]["tokens"]] * 2 and told[0]["step"] == 4
    assert told[0]["loss"] == pytest.approx(told[1]["loss"])
    # It is done: nothing is left to learn, and more steps go on from there.
    again = warm_up(plain, tmp_path / "whole", SMALL, lambda _: pytest.fail("nothing is left"))
    assert again == whole
    more = warm_up(plain, tmp_path / "whole", replace(SMALL, steps=5), untold)
    assert warmup.read(more)[0]["step"] == 5


def test_another_seed_or_book_does_not_go_on_from_this_one(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm_up(plain, tmp_path, replace(SMALL, steps=1), untold)
    with pytest.raises(BadInput, match="of another warm-up"):
        warm_up(plain, tmp_path, replace(SMALL, steps=1, seed=4), untold)
    with monkeypatch.context() as other:
        other.setattr(lessons, "BOOK", 20)
        with pytest.raises(BadInput, match="of another warm-up"):
            warm_up(plain, tmp_path, SMALL, untold)
    (tmp_path / warmup.STATE).write_bytes(b"damaged")
    with pytest.raises(BadInput, match="or damaged"):
        warm_up(plain, tmp_path, SMALL, untold)


def test_the_policy_is_the_plain_model_and_what_was_learnt(plain: Path, tmp_path: Path) -> None:
    recipe = replace(SMALL, steps=25)
    adapter = warm_up(plain, tmp_path / "work", recipe, untold)
    facts = assemble(plain, adapter, tmp_path / "policy")
    assert (facts["step"], facts["seed"], facts["rank"]) == (25, 3, 4)
    assert manifest.problems(tmp_path / "policy") == []
    before, after = read_weights(plain), read_weights(tmp_path / "policy")
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert moved == {name for name in before if "_proj" in name}
    assert {value.dtype for value in after.values()} == {torch.bfloat16}
    engine = LocalEngine.open(tmp_path / "policy", PolicyConfig())
    engine.close()
    assert engine.chat.tokenizer.chat_template == lessons.TEMPLATE
    unseen = [lessons.encode(engine.chat, talk) for talk in lessons.lesson(99, 0, 1, 3)]
    with torch.no_grad():
        start, end = (
            sum(float(loss_of(load_model(folder), [row])[0]) for row in unseen)
            for folder in (plain, tmp_path / "policy")
        )
    assert end < 0.9 * start
    other = tmp_path / "other"
    make_model(seed=1).save_pretrained(other)
    with pytest.raises(BadInput, match="trained on other weights"):
        assemble(other, adapter, tmp_path / "mixed")
    assert not (tmp_path / "mixed").exists()


def run(*words: str) -> tuple[int, Any, BaseException | None]:
    done = CliRunner().invoke(spadework.app, ["policy", "smollm2", *words, "--json"])
    return done.exit_code, json.loads(done.stdout) if done.stdout else None, done.exception


def test_one_command_makes_the_policy_that_a_home_begins_with(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convert, "find_gguf", lambda: Path("tiny.gguf"))
    monkeypatch.setattr(convert, "convert", lambda _, out: shutil.copytree(plain, out))
    folder, again = tmp_path / "made", tmp_path / "again"
    code, told, _ = run(str(folder), "--steps", "1", "--seed", "2", "--set", "train.threads=1")
    assert code == 0 and (told["step"], told["seed"]) == (1, 2)
    assert manifest.problems(folder) == []
    assert Versions(tmp_path / "policy").bootstrap(PolicyConfig(model=str(folder))).is_dir()
    # Asked again it says what is there, and the adapter alone gives the same policy.
    assert run(str(folder))[1] == told
    adapter = tmp_path / "made.warm-up" / "adapter.safetensors"
    assert run(str(again), "--adapter", str(adapter))[0] == 0
    weights = [one / "model.safetensors" for one in (folder, again)]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    (folder / "config.json").write_text("{}")
    assert isinstance(run(str(folder))[2], BadInput)
    # What ships is of the real model, and a seed alone would promise a training that is none.
    other = tmp_path / "other"
    assert "trained on other weights" in str(run(str(other))[2])
    assert "give --steps as well" in str(run(str(other), "--seed", "1")[2])
    assert not other.exists()


def test_the_adapter_that_ships_is_what_its_recipe_makes() -> None:
    told, tensors = warmup.read(SHIPPED)
    recipe = Recipe()
    assert told["step"] == recipe.steps
    made_of = {**told["of"], "base": ""}
    taught = lessons.digest(recipe.seed, recipe.designs, recipe.plays)
    assert made_of == {"base": "", "lessons": taught, **recipe.identity()}
    shape = KNOWN["SmolLM2-135M"]
    assert len(tensors) == shape.layers * 7 * 2  # seven linear maps a layer, two factors each
    assert {value.dtype for value in tensors.values()} == {torch.bfloat16}
    assert SHIPPED.stat().st_size < 12e6


def test_misuse_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convert, "PACKAGE", "no_such_package_anywhere")
    for words, why in (
        (("--steps", "3", "--adapter", "a"), "leave --steps out"),
        ((), "--no-deps"),
    ):
        error = run(str(tmp_path / "policy"), *words)[2]
        assert isinstance(error, BadInput) and why in str(error)
    assert list(tmp_path.iterdir()) == []
