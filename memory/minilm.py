"""The packaged MiniLM run with NumPy alone: a query is embedded without importing torch.

A cold ``spadework search`` would spend some ten seconds importing sentence-transformers for one
short text. The forward pass of a six-layer BERT is a page of linear algebra; a test holds it to
sentence-transformers' result.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


class MiniLM:
    """BERT encoder, mean pooling, unit length, from a sentence-transformers model folder."""

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from threadpoolctl import ThreadpoolController
        from tokenizers import Tokenizer

        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        limits = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
        self.layers = int(config["num_hidden_layers"])
        self.heads = int(config["num_attention_heads"])
        self.epsilon = float(config["layer_norm_eps"])
        self._blas = ThreadpoolController().select(internal_api="openblas")
        self.weights: dict[str, Array] = load_file(folder / "model.safetensors")
        self.tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(int(limits["max_seq_length"]))

    def embed_all(self, texts: Sequence[str]) -> list[Array]:
        """Return the embedding of each text, one thread at work.

        For texts of this length more threads only wait for one another, and spin while they do.
        """
        with self._blas.limit(limits=1):
            return [self.embed(text) for text in texts]

    def embed(self, text: str) -> Array:
        """Return the embedding of one text, shape (width,), unit length."""
        ids = self.tokenizer.encode(text).ids
        w = self.weights
        x_TD = (
            w["embeddings.word_embeddings.weight"][ids]
            + w["embeddings.position_embeddings.weight"][: len(ids)]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        x_TD = self._norm(x_TD, "embeddings.LayerNorm")
        for layer in range(self.layers):
            x_TD = self._layer(x_TD, f"encoder.layer.{layer}")
        pooled_D = x_TD.mean(axis=0)
        return np.asarray(pooled_D / np.linalg.norm(pooled_D), dtype=np.float32)

    def _layer(self, x_TD: Array, name: str) -> Array:
        attended_TD = self._attention(x_TD, f"{name}.attention.self")
        output_TD = self._linear(attended_TD, f"{name}.attention.output.dense")
        x_TD = self._norm(x_TD + output_TD, f"{name}.attention.output.LayerNorm")
        inner_TF = _gelu(self._linear(x_TD, f"{name}.intermediate.dense"))
        output_TD = self._linear(inner_TF, f"{name}.output.dense")
        return self._norm(x_TD + output_TD, f"{name}.output.LayerNorm")

    def _attention(self, x_TD: Array, name: str) -> Array:
        tokens, width = x_TD.shape
        q_HTE, k_HTE, v_HTE = (
            self._linear(x_TD, f"{name}.{part}").reshape(tokens, self.heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores_HTT = q_HTE @ k_HTE.swapaxes(1, 2) / np.float32(np.sqrt(width // self.heads))
        scores_HTT = np.exp(scores_HTT - scores_HTT.max(axis=-1, keepdims=True))
        scores_HTT /= scores_HTT.sum(axis=-1, keepdims=True)
        return np.asarray((scores_HTT @ v_HTE).swapaxes(0, 1).reshape(tokens, width))

    def _linear(self, x: Array, name: str) -> Array:
        return np.asarray(x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"])

    def _norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self.epsilon)
        normal = centred / scale
        return np.asarray(normal * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"])


def _gelu(x: Array) -> Array:
    """x * normal distribution function of x; erf by Abramowitz and Stegun 7.1.26 (< 2e-7)."""
    z = np.abs(x) / np.float32(np.sqrt(2.0))
    t = 1.0 / (1.0 + 0.3275911 * z)
    series = 1.421413741 + t * (-1.453152027 + t * 1.061405429)
    series = t * (0.254829592 + t * (-0.284496736 + t * series))
    erf = np.sign(x) * (1.0 - series * np.exp(-z * z))
    return np.asarray(0.5 * x * (1.0 + erf), dtype=np.float32)
