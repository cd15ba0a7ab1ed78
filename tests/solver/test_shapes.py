"""Sizes of models: by hand, and as transformers counts them."""

import json
from pathlib import Path
from typing import Any

import pytest

from solver.shapes import KNOWN, find, shape_of
from spadekit.errors import BadInput


@pytest.mark.parametrize(
    ("name", "parameters", "working", "kv_bytes"),
    # As the models' own pages give them: 4.0, 8.2, 30.5 (3.3 at work) and 0.135 thousand millions.
    [
        ("Qwen3-4B", 4.02e9, 4.02e9, 147_456),
        ("Qwen3-8B", 8.19e9, 8.19e9, 147_456),
        ("Qwen3-30B-A3B", 30.5e9, 3.35e9, 98_304),
        ("SmolLM2-135M", 134.5e6, 134.5e6, 23_040),
    ],
)
def test_the_recipes_models_are_as_large_as_they_are_said_to_be(
    name: str, parameters: float, working: float, kv_bytes: int
) -> None:
    shape = KNOWN[name]
    assert shape.parameters == pytest.approx(parameters, rel=0.01)
    assert shape.working == pytest.approx(working, rel=0.01)
    # Two bytes for keys and values of each layer: 36 x 8 heads x 128, 48 x 4 x 128, or 30 x 3 x 64.
    assert 2 * shape.kv_values == kv_bytes


def test_a_layer_by_hand() -> None:
    """Qwen3-4B: attention 2560 x (4096 + 1024 + 1024 + 4096), feed-forward 3 x 2560 x 9728, norms."""
    attention = 2560 * (4096 + 1024 + 1024 + 4096)
    norms = 2 * 2560 + 2 * 128
    assert KNOWN["Qwen3-4B"].per_layer == attention + 3 * 2560 * 9728 + norms == 100_930_816


TINY: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 56,
    "max_position_embeddings": 64,
}
MIXTURE = TINY | {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24}


@pytest.mark.parametrize(
    ("family", "values"),
    [
        ("llama", TINY | {"tie_word_embeddings": True}),
        ("mistral", TINY | {"head_dim": 16}),
        ("qwen2", TINY),
        ("qwen3", TINY | {"head_dim": 16, "tie_word_embeddings": True}),
        ("qwen3_moe", MIXTURE | {"head_dim": 16}),
    ],
)
def test_transformers_counts_the_same(family: str, values: dict[str, Any], tmp_path: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(family, **values)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    config.save_pretrained(tmp_path)
    found = find(tmp_path)
    assert found is not None
    assert found.parameters == sum(one.numel() for one in model.parameters())
    edges = sum(
        one.in_features + one.out_features
        for name, one in model.named_modules()
        if isinstance(one, torch.nn.Linear) and name != "lm_head"
    )
    if family != "qwen3_moe":  # its experts are no linear layers of their own there
        assert found.linear_edges == edges


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_transformers_counts_the_recipes_models_the_same(name: str) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    shape = KNOWN[name]
    values = {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head,
        "tie_word_embeddings": shape.tied,
    }
    if shape.experts:
        values |= {
            "num_experts": shape.experts,
            "num_experts_per_tok": shape.active,
            "moe_intermediate_size": shape.ff,
        }
    else:
        values["intermediate_size"] = shape.ff
    family = ("qwen3_moe" if shape.experts else "qwen3") if shape.normed else "llama"
    config = AutoConfig.for_model(family, **values)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    assert shape.parameters == sum(one.numel() for one in model.parameters())


def test_a_folder_is_read_before_its_name_is(tmp_path: Path) -> None:
    folder = tmp_path / "Qwen3-30B-A3B-Instruct-2507"
    assert find(folder) == KNOWN["Qwen3-30B-A3B"]
    assert find(tmp_path / "Qwen3-3B") is None
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(TINY | {"model_type": "qwen2"}))
    assert find(folder) == shape_of(TINY | {"model_type": "qwen2"})
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    assert find(folder) is None
    for broken in ("{", "{}[", '{"model_type": "llama"}'):
        (folder / "config.json").write_text(broken)
        with pytest.raises(BadInput, match=r"config\.json cannot be read"):
            find(folder)
