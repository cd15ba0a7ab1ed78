"""The whole path on a tiny Qwen3: what the engine sampled is, id for id, what the trainer is given."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from sandbox import Pool, Sandbox, SandboxConfig
from solver.chat import Thinking
from solver.config import PolicyConfig, TrainConfig
from solver.engines.local import LocalEngine
from solver.episodes import play
from solver.learner import Item, Learner
from solver.policy import Completion, Sampling
from solver.samples import from_plays
from tests.solver.families import make_tokenizer

GAME = '''
class EchoEnv:
    """Say something."""
    def reset(self, seed=None):
        return f"you are at {seed}", {}
    def step(self, action):
        return f"no: {action[:20]!r}", 0.0, False, False, {}
'''


@pytest.fixture(scope="module")
def qwen3_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Qwen3 in the transformers format; like the real ones it knows more ids than its
    tokenizer."""
    folder = tmp_path_factory.mktemp("qwen3")
    tokenizer = make_tokenizer("qwen3")
    torch.manual_seed(0)
    config = Qwen3Config(
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        intermediate_size=96,
        vocab_size=len(tokenizer) + 21,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        initializer_range=0.2,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("thinking", ["default", "off"])
async def test_the_engines_ids_reach_the_trainer_as_they_were_sampled(
    thinking: Thinking, qwen3_dir: Path
) -> None:
    engine = LocalEngine.open(qwen3_dir, PolicyConfig(thinking=thinking))
    assert engine.chat.separate
    asked: list[tuple[int, ...]] = []
    sampled: list[Completion] = []
    complete = engine.complete

    async def spy(prompt_ids: Sequence[int], sampling: Sampling) -> Completion:
        asked.append(tuple(prompt_ids))
        sampled.append(await complete(prompt_ids, sampling))
        return sampled[-1]

    engine.complete = spy  # type: ignore[method-assign]
    async with (
        Sandbox(SandboxConfig()) as sandbox,
        Pool(sandbox) as pool,
        pool.lease(GAME) as jail,
    ):
        done = await play(
            engine,
            jail,
            seed=4,
            hint=None,
            sampling=Sampling(0.8, 12, 9),
            max_turns=5,
            prompt="short",
        )
    engine.close()
    assert done.turns == len(sampled) == 5
    strange = [token for one in sampled for token in one.ids if token >= len(engine.chat.tokenizer)]
    assert strange, "no id beyond the tokenizer was drawn: choose another seed"

    record = done.record(id="p", environment="e", purpose="train", arm="unhinted")
    batch = from_plays([record])
    assert [sample.ids for sample in batch.samples] == [
        prompt + one.ids for prompt, one in zip(asked, sampled, strict=True)
    ]
    assert batch.episodes == pytest.approx(1.0)
    found = Learner(qwen3_dir, {}, TrainConfig()).logprobs(batch.samples)
    for sample, one, logp_N in zip(batch.samples, sampled, found, strict=True):
        recorded_N = Item(sample, 0.0).behaviour_N
        assert recorded_N.tolist() == pytest.approx(list(one.logprobs))
        assert torch.allclose(logp_N, recorded_N, atol=1e-4)
