"""A GGUF file of a tiny model, written with the package that reads the real one."""

import json
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

ENDS = (("embed_tokens", "token_embd"), ("norm", "output_norm"))
PARTS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def write_gguf(path: Path, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
    """Write a Llama with tied embeddings in float32, as llama.cpp lays it out."""
    import gguf

    config = model.config
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    _write_tokenizer(writer, tokenizer)
    state = model.state_dict()
    for name, short in ENDS:
        writer.add_tensor(f"{short}.weight", state[f"model.{name}.weight"].numpy())
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    for layer in range(config.num_hidden_layers):
        for name, short in PARTS.items():
            weight = state[f"model.layers.{layer}.{name}.weight"]
            if short in heads:
                weight = _interleaved(weight, heads[short])
            writer.add_tensor(f"blk.{layer}.{short}.weight", weight.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _write_tokenizer(writer: Any, tokenizer: PreTrainedTokenizerFast) -> None:
    import gguf

    raw = json.loads(tokenizer.backend_tokenizer.to_str())
    special = {token["id"] for token in raw["added_tokens"]}
    vocabulary = tokenizer.get_vocab()
    ordered = sorted(vocabulary, key=vocabulary.__getitem__)
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(ordered)
    writer.add_token_types([control if n in special else normal for n in range(len(ordered))])
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in raw["model"]["merges"]]
    writer.add_token_merges(merges)
    end = vocabulary["<|im_end|>"]
    writer.add_bos_token_id(vocabulary["<|im_start|>"])
    writer.add_eos_token_id(end)
    writer.add_pad_token_id(end)
    writer.add_chat_template(tokenizer.chat_template)


def _interleaved(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """The rows of a rotated projection in llama.cpp's order: halves of a head become pairs."""
    rows, columns = weight.shape
    halves = weight.view(heads, 2, rows // heads // 2, columns)
    return halves.transpose(1, 2).reshape(rows, columns).contiguous()
