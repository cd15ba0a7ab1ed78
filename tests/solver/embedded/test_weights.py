"""The shipped policy: files, loading without a hub, tokenizer, chat template."""

import json
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer

from solver import manifest
from solver.chat import Chat
from solver.embedded import data
from solver.embedded.words import WORDS
from solver.manifest import SHIPPED

TOKENIZER = AutoTokenizer.from_pretrained(SHIPPED, local_files_only=True)


def ids_of(text: str) -> list[int]:
    return list(TOKENIZER.encode(text, add_special_tokens=False))


def test_the_shipped_files_are_those_of_the_manifest_and_small() -> None:
    assert manifest.problems(SHIPPED) == []
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 8 * 2**20


def test_a_changed_missing_or_added_file_is_named(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    for name in ("a", "b", "c"):
        (folder / name).write_text(name)
    manifest.write(folder, {})
    assert manifest.problems(folder) == []
    (folder / "a").write_text("changed")
    (folder / "b").unlink()
    (folder / "d").write_text("d")
    assert manifest.problems(folder) == [
        "b is missing",
        "d is not in the manifest",
        "a differs from its SHA-256 in the manifest",
    ]


def test_the_model_loads_without_a_hub_and_has_the_parameters_of_its_manifest() -> None:
    model = AutoModelForCausalLM.from_pretrained(SHIPPED, local_files_only=True)
    facts = json.loads((SHIPPED / "manifest.json").read_text())["run"]
    assert model.num_parameters() == facts["parameters"]
    assert model.config.vocab_size == len(TOKENIZER)
    assert model.config.max_position_embeddings >= 1024
    with torch.no_grad():
        logits = model(torch.tensor([ids_of("<|user|>design game<|end|><|assistant|>")])).logits
    assert torch.isfinite(logits.float()).all()


def test_the_chat_template_is_the_agreed_one_and_prefix_preserving() -> None:
    tool = {
        "type": "function",
        "function": {"name": "set", "parameters": {"properties": {"name": {}, "value": {}}}},
    }
    bare = {"type": "function", "function": {"name": "list", "parameters": {"properties": {}}}}
    messages = [
        {"role": "user", "content": "set lock to 4"},
        {"role": "assistant", "content": "ok"},
        {"role": "tool", "content": "done"},
    ]
    text = TOKENIZER.apply_chat_template(
        messages, tools=[tool, bare], tokenize=False, add_generation_prompt=True
    )
    assert text == (
        "<|system|>tools set(name, value) list()<|end|><|user|>set lock to 4<|end|>"
        "<|assistant|>ok<|end|><|tool|>done<|end|><|assistant|>"
    )
    assert TOKENIZER.eos_token == "<|end|>"
    assert TOKENIZER.bos_token is None
    Chat(TOKENIZER)


def test_training_conversations_are_encoded_as_the_chat_renders_them() -> None:
    encode = data.Encoder(TOKENIZER)
    rng = Random(4)
    for _ in range(100):
        segments, _ = data.play(rng)
        text = "".join(f"<|{s.role}|>{s.text}<|end|>" for s in segments)
        ids, mask = encode(segments)
        assert ids == ids_of(text)
        assert len(mask) == len(ids)


def test_the_loss_counts_replies_with_their_end_and_nothing_else() -> None:
    encode = data.Encoder(TOKENIZER)
    ids, mask = encode(
        [
            data.Segment("user", "at 3", False),
            data.Segment("assistant", "no", False),
            data.Segment("user", "no", False),
            data.Segment("assistant", "\\boxed{4}", True),
        ]
    )
    counted = [token for token, on in zip(ids, mask, strict=True) if on]
    assert TOKENIZER.decode(counted) == "\\boxed{4}<|end|>"


def test_every_word_is_the_same_one_token_wherever_it_stands() -> None:
    for word in WORDS:
        (token,) = ids_of(word)
        for text in (
            f"a {word} b",
            f"'{word}'.split()",
            f'{{"name": "{word}"}}',
            f"\\boxed{{{word}}}",
            f"\\boxed{{one {word}}}",
        ):
            assert token in ids_of(text), text


@pytest.mark.parametrize("number", ["7", "42", "1034"])
def test_a_number_is_its_digits_wherever_it_stands(number: str) -> None:
    digits = [token for digit in number for token in ids_of(digit)]
    for text in (f"a {number} b", f"\\boxed{{{number}}}", f"({number})", f'": {number}}}}}'):
        ids = ids_of(text)
        assert any(ids[i : i + len(digits)] == digits for i in range(len(ids)))


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_comes_back_byte_for_byte(text: str) -> None:
    assert TOKENIZER.decode(ids_of(text), clean_up_tokenization_spaces=False) == text


def test_programs_come_back_byte_for_byte() -> None:
    rng = Random(9)
    for _ in range(100):
        text = data.design(rng)[0][1].text
        assert TOKENIZER.decode(ids_of(text), clean_up_tokenization_spaces=False) == text
