"""The local engine: samples independent of their neighbours, weights switched in place."""

import asyncio
import os
import shutil
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel

from solver.config import PolicyConfig
from solver.engines.decode import Decoder, Request, uniforms
from solver.engines.local import LocalEngine
from solver.policy import Completion, Gathering, Sampling
from solver.versions import Versions
from solver.weights import load_model
from spadekit.errors import BadInput, OurFault

PROMPTS = [tuple(range(20, 20 + n)) for n in (3, 9, 9, 30, 5, 17, 44, 8)]


async def complete_all(
    engine: LocalEngine, prompts: list[tuple[int, ...]], temperature: float, max_tokens: int = 12
) -> list[Completion]:
    return await asyncio.gather(
        *(
            engine.complete(prompt, Sampling(temperature, max_tokens, seed))
            for seed, prompt in enumerate(prompts)
        )
    )


def reference_logprobs(folder: Path, prompt: tuple[int, ...], done: Completion) -> torch.Tensor:
    """Log-probabilities of a completion at temperature 1 by one plain forward pass."""
    model = load_model(folder)
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([[*prompt, *done.ids]])).logits[0]
    logp = logits.log_softmax(-1)
    where = torch.arange(len(prompt) - 1, len(prompt) + len(done.ids) - 1)
    return logp[where, torch.tensor(done.ids)]


@pytest.fixture
def engine(model_dir: Path) -> LocalEngine:
    return LocalEngine.open(model_dir, PolicyConfig())


async def test_greedy_ids_are_equal_alone_and_in_a_batch(engine: LocalEngine) -> None:
    together = await complete_all(engine, PROMPTS, 0.0)
    for prompt, done in zip(PROMPTS, together, strict=True):
        assert (await engine.complete(prompt, Sampling(0.0, 12, 99))).ids == done.ids
    engine.close()


async def test_samples_depend_on_their_seed_and_not_on_their_neighbours(
    engine: LocalEngine,
) -> None:
    together = await complete_all(engine, PROMPTS, 0.8)
    assert len({done.ids for done in together}) > 4
    for seed, (prompt, done) in enumerate(zip(PROMPTS, together, strict=True)):
        alone = await engine.complete(prompt, Sampling(0.8, 12, seed))
        assert alone.ids == done.ids
        assert alone.logprobs == pytest.approx(done.logprobs, abs=1e-4)
    other = await engine.complete(PROMPTS[3], Sampling(0.8, 12, 1234))
    assert other.ids != together[3].ids
    engine.close()


async def test_one_prompt_asked_often_is_computed_once(engine: LocalEngine) -> None:
    done = await complete_all(engine, [PROMPTS[6]] * 10, 1.0)
    assert engine.usage.fed == len(PROMPTS[6])
    assert len({completion.ids for completion in done}) > 5
    engine.close()


async def test_a_conversation_that_goes_on_reuses_its_rows(
    engine: LocalEngine, model_dir: Path
) -> None:
    first = await engine.complete(PROMPTS[6], Sampling(1.0, 10, 5))
    before = engine.usage.fed
    longer = (*PROMPTS[6], *first.ids, 30, 31)
    second = await engine.complete(longer, Sampling(1.0, 10, 6))
    assert engine.usage.fed - before == 3  # the last sampled id and the two new ones
    expected = reference_logprobs(model_dir, longer, second)
    assert torch.allclose(torch.tensor(second.logprobs), expected, atol=1e-4)
    engine.close()


async def test_logprobs_are_those_of_the_sampled_distribution(
    engine: LocalEngine, model_dir: Path
) -> None:
    for prompt, done in zip(PROMPTS, await complete_all(engine, PROMPTS, 1.0), strict=True):
        expected = reference_logprobs(model_dir, prompt, done)
        assert torch.allclose(torch.tensor(done.logprobs), expected, atol=1e-4)
    engine.close()


async def test_sampling_follows_the_distribution(engine: LocalEngine, model_dir: Path) -> None:
    prompt, temperature = PROMPTS[1], 0.7
    draws = await complete_all(engine, [prompt] * 2000, temperature, max_tokens=1)
    with torch.no_grad():
        logits = load_model(model_dir)(input_ids=torch.tensor([prompt])).logits[0, -1]
    expected = torch.softmax(logits / temperature, -1)
    counts = torch.bincount(torch.tensor([done.ids[0] for done in draws]), minlength=len(expected))
    for token in expected.topk(3).indices.tolist():
        p = float(expected[token])
        assert abs(int(counts[token]) / 2000 - p) < 4 * (p * (1 - p) / 2000) ** 0.5
        done = next(done for done in draws if done.ids[0] == token)
        assert done.logprobs[0] == pytest.approx(float(expected[token].log()), abs=1e-4)
    engine.close()


async def test_replies_stop_at_the_end_token_or_at_their_length(engine: LocalEngine) -> None:
    end = engine.chat.tokenizer.eos_token_id
    done = await complete_all(engine, [PROMPTS[1]] * 400, 1.0, max_tokens=20)
    ended = [completion for completion in done if completion.stop == "end"]
    assert ended and all(c.ids[-1] == end and end not in c.ids[:-1] for c in ended)
    cut = [completion for completion in done if completion.stop == "length"]
    assert all(len(c.ids) == 20 and end not in c.ids for c in cut)
    engine.close()


async def test_batches_within_small_limits_give_the_same_samples(model_dir: Path) -> None:
    wide = LocalEngine.open(model_dir, PolicyConfig())
    narrow = LocalEngine.open(model_dir, PolicyConfig(max_batch=3, batch_tokens=60, cache_mb=0))
    expected = await complete_all(wide, PROMPTS, 1.0)
    assert [d.ids for d in await complete_all(narrow, PROMPTS, 1.0)] == [d.ids for d in expected]
    assert narrow.usage.batches > 3
    wide.close()
    narrow.close()


async def test_a_batch_waits_for_every_counted_caller(engine: LocalEngine) -> None:
    assert isinstance(engine, Gathering)

    async def caller(seed: int) -> None:
        with engine.client():
            for turn in range(3):
                await asyncio.sleep(0.001 * ((seed * 7 + turn * 3) % 5))
                await engine.complete(PROMPTS[seed % 8], Sampling(1.0, 6, seed))

    await asyncio.gather(*(caller(seed) for seed in range(12)))
    assert engine.usage.batches == 3
    engine.close()


async def test_a_caller_that_dawdles_is_waited_for_only_so_long(model_dir: Path) -> None:
    engine = LocalEngine.open(model_dir, PolicyConfig(patience_s=0.05))
    with engine.client(), engine.client():
        done = await asyncio.wait_for(engine.complete(PROMPTS[0], Sampling(1.0, 4, 0)), 5)
    assert done.ids
    engine.close()


async def test_a_request_after_a_cancelled_one_is_not_left_waiting(model_dir: Path) -> None:
    engine = LocalEngine.open(model_dir, PolicyConfig(patience_s=0.05))
    with engine.client(), engine.client():
        alone = asyncio.create_task(engine.complete(PROMPTS[0], Sampling(1.0, 4, 0)))
        await asyncio.sleep(0.01)  # the engine now waits for the second caller
        alone.cancel()
        await asyncio.sleep(0.1)
        done = await asyncio.wait_for(engine.complete(PROMPTS[1], Sampling(1.0, 4, 1)), 5)
    assert done.ids
    engine.close()


def test_ended_rows_stay_within_a_learned_position_table() -> None:
    config = GPT2Config(
        n_embd=16,
        n_layer=1,
        n_head=2,
        vocab_size=64,
        n_positions=40,
        bos_token_id=None,
        eos_token_id=None,
    )
    torch.manual_seed(0)
    model = GPT2LMHeadModel(config).eval()
    done: dict[int, Completion] = {}
    requests = [
        Request(
            tuple(range(length)), Sampling(1.0, most, length), partial(done.__setitem__, length)
        )
        for length, most in ((36, 2), (3, 30), (4, 30), (5, 30), (6, 30))
    ]
    decoder = Decoder(model, frozenset(), 2**20, 4096)
    decoder.run(requests, 8, 0)
    assert [len(done[length].ids) for length in (36, 3, 6)] == [2, 30, 30]


async def test_a_version_whose_files_changed_is_neither_opened_nor_loaded(
    engine: LocalEngine, model_dir: Path, tmp_path: Path
) -> None:
    versions = Versions(tmp_path)
    folder = versions.bootstrap(PolicyConfig(model=str(model_dir)))
    path = folder / "model.safetensors"
    weights = {name: value + 0.05 for name, value in load_file(path).items()}
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(BadInput, match=r"model\.safetensors is damaged"):
        LocalEngine.open(folder, PolicyConfig())
    with pytest.raises(BadInput, match=r"model\.safetensors is damaged"):
        await engine.load(folder)
    engine.close()


async def test_loading_switches_weights_and_stamps_the_version(
    engine: LocalEngine, model_dir: Path, tmp_path: Path
) -> None:
    other = tmp_path / "v000007"
    shutil.copytree(model_dir, other)
    weights = {
        name: value + 0.05 for name, value in load_file(model_dir / "model.safetensors").items()
    }
    save_file(weights, other / "model.safetensors", metadata={"format": "pt"})
    (other / "policy.json").write_text(
        '{"version": 7, "parent": 6, "step": 7, "shard": 7, "config": "", "digests": {}, '
        '"metrics": {}}'
    )
    before = await engine.complete(PROMPTS[3], Sampling(1.0, 8, 1))
    await engine.load(other)
    after = await engine.complete(PROMPTS[3], Sampling(1.0, 8, 1))
    assert (before.version, after.version, engine.version) == (0, 7, 7)
    expected = reference_logprobs(other, PROMPTS[3], after)
    assert torch.allclose(torch.tensor(after.logprobs), expected, atol=1e-4)
    engine.close()


async def test_a_folder_that_cannot_be_read_in_time_leaves_the_old_weights_serving(
    model_dir: Path, tmp_path: Path
) -> None:
    engine = LocalEngine.open(model_dir, PolicyConfig(load_s=0.1))
    record = tmp_path / "policy.json"
    os.mkfifo(record)  # whoever reads it waits for a writer
    with pytest.raises(OurFault, match=r"not read within policy\.load_s = 0\.1; .* go on serving"):
        await engine.load(tmp_path)
    os.close(os.open(record, os.O_WRONLY))
    assert (await engine.complete(PROMPTS[3], Sampling(1.0, 8, 1))).version == 0
    engine.close()


async def test_weights_that_do_not_fit_are_refused_and_the_old_ones_go_on_serving(
    engine: LocalEngine, model_dir: Path, tmp_path: Path
) -> None:
    expected = await engine.complete(PROMPTS[3], Sampling(0.0, 8, 1))
    shutil.copytree(model_dir, tmp_path / "bad")
    path = tmp_path / "bad" / "model.safetensors"
    weights = load_file(path)
    weights["model.norm.weight"] = torch.ones(7)
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(BadInput, match="norm"):
        await engine.load(tmp_path / "bad")
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(BadInput, match=r"model\.safetensors is damaged"):
        await engine.load(tmp_path / "bad")
    again = await engine.complete(PROMPTS[3], Sampling(0.0, 8, 1))
    assert again.ids == expected.ids
    assert engine.version == 0
    engine.close()


async def test_a_cancelled_request_spares_the_others(engine: LocalEngine) -> None:
    tasks = [
        asyncio.create_task(engine.complete(prompt, Sampling(1.0, 40, seed)))
        for seed, prompt in enumerate(PROMPTS)
    ]
    await asyncio.sleep(0)
    tasks[2].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[2], asyncio.CancelledError)
    assert sum(isinstance(result, Completion) for result in results) == len(PROMPTS) - 1
    engine.close()


async def test_prompts_that_cannot_be_completed_are_refused(engine: LocalEngine) -> None:
    with pytest.raises(ValueError, match="empty"):
        await engine.complete([], Sampling(1.0, 4, 0))
    with pytest.raises(ValueError, match="context of 512"):
        await engine.complete([20] * 500, Sampling(1.0, 20, 0))
    engine.close()


def test_a_missing_or_damaged_model_is_one_clear_line(model_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="tokenizer"):
        LocalEngine.open(tmp_path, PolicyConfig())
    folder = tmp_path / "model"
    shutil.copytree(model_dir, folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(BadInput, match=r"model\.safetensors is missing"):
        LocalEngine.open(folder, PolicyConfig())


def test_uniforms_of_a_seed_do_not_depend_on_how_many_are_asked_for() -> None:
    assert uniforms(5, 3).tolist() == uniforms(5, 300)[:3].tolist()
    assert uniforms(5, 3).tolist() != uniforms(6, 3).tolist()
