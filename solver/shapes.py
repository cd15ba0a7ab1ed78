"""How large a model is, from its configuration alone: pure arithmetic, no weights, no torch."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spadekit.errors import BadInput


@dataclass(frozen=True)
class Shape:
    """A decoder-only transformer with gated feed-forward layers (Llama and Qwen families).

    ``ff`` is the width of a feed-forward layer; with ``experts`` that of one expert, of which
    ``active`` work on each token. ``bias``: of queries, keys and values. ``normed``: queries and keys
    are normalised per head.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head: int
    ff: int
    vocabulary: int
    tied: bool
    experts: int = 0
    active: int = 0
    bias: bool = False
    normed: bool = False

    @property
    def per_layer(self) -> int:
        """Parameters of one layer."""
        queries, keys = self.heads * self.head, self.kv_heads * self.head
        attention = 2 * self.hidden * queries + 2 * self.hidden * keys
        attention += (queries + 2 * keys) * self.bias + 2 * self.head * self.normed
        feed_forward = 3 * self.hidden * self.ff
        if self.experts:
            feed_forward = self.experts * feed_forward + self.hidden * self.experts
        return attention + feed_forward + 2 * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters."""
        embedding = self.vocabulary * self.hidden
        return self.layers * self.per_layer + self.hidden + embedding * (1 if self.tied else 2)

    @property
    def working(self) -> int:
        """Parameters that work on a token; fewer than all in a mixture of experts."""
        idle = (self.experts - self.active) * 3 * self.hidden * self.ff
        return self.parameters - self.layers * idle

    @property
    def linear_edges(self) -> int:
        """Inputs plus outputs of all linear layers but the output layer's: what LoRA's rank multiplies."""
        queries, keys = self.heads * self.head, self.kv_heads * self.head
        attention = 2 * (self.hidden + queries) + 2 * (self.hidden + keys)
        feed_forward = 3 * (self.hidden + self.ff) * max(1, self.experts)
        router = self.hidden + self.experts if self.experts else 0
        return self.layers * (attention + feed_forward + router)

    @property
    def kv_values(self) -> int:
        """Numbers that the key-value cache keeps for one token."""
        return 2 * self.layers * self.kv_heads * self.head


def _qwen3(layers: int, hidden: int, heads: int, kv_heads: int, ff: int, **rest: Any) -> Shape:
    return Shape(layers, hidden, heads, kv_heads, 128, ff, 151_936, normed=True, **rest)


KNOWN: Mapping[str, Shape] = {
    "Qwen3-4B": _qwen3(36, 2560, 32, 8, 9728, tied=True),
    "Qwen3-8B": _qwen3(36, 4096, 32, 8, 12_288, tied=False),
    "Qwen3-30B-A3B": _qwen3(48, 2048, 32, 4, 768, tied=False, experts=128, active=8),
    "SmolLM2-135M": Shape(30, 576, 9, 3, 64, 1536, 49_152, tied=True),
}
"""The models of the recipes (their public configurations), by how the names of their folders begin."""

FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "qwen3_moe")


def shape_of(config: Mapping[str, Any]) -> Shape:
    """Read a model's ``config.json``. Raises ``ValueError`` for a kind of model that is not known."""
    family = config.get("model_type")
    if family not in FAMILIES:
        raise ValueError(
            f"a model of the kind {family!r} cannot be sized; {', '.join(FAMILIES)} can"
        )
    mixture = family == "qwen3_moe"
    if "num_local_experts" in config:  # as transformers 5 writes it
        config = {**config, "num_experts": config["num_local_experts"]}
    if mixture and (config.get("mlp_only_layers") or config.get("decoder_sparse_step", 1) != 1):
        raise ValueError("a mixture of experts with layers that have none cannot be sized")
    heads = int(config["num_attention_heads"])
    return Shape(
        layers=int(config["num_hidden_layers"]),
        hidden=int(config["hidden_size"]),
        heads=heads,
        kv_heads=int(config.get("num_key_value_heads") or heads),
        head=int(config.get("head_dim") or config["hidden_size"] // heads),
        ff=int(config["moe_intermediate_size" if mixture else "intermediate_size"]),
        vocabulary=int(config["vocab_size"]),
        tied=bool(config.get("tie_word_embeddings", False)),
        experts=int(config["num_experts"]) if mixture else 0,
        active=int(config["num_experts_per_tok"]) if mixture else 0,
        bias=family == "qwen2",
        normed=family.startswith("qwen3"),
    )


def find(folder: Path) -> Shape | None:
    """Return the shape of the model in a folder, else that of a known model of its name, else None.

    Raises ``BadInput`` for a folder whose ``config.json`` cannot be read.
    """
    path = folder / "config.json"
    if path.is_file():
        try:
            return shape_of(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise BadInput(f"{path} cannot be read: {error!r}") from None
        except ValueError:
            return None
    names = [name for name in KNOWN if folder.name.startswith(name)]
    return KNOWN[max(names, key=len)] if names else None
