"""Where environments lie on the map. Pure: embeddings in, places in the plane out.

A map is *drawn* once on some environments, its landmarks, by t-SNE of their embeddings. Everything else
is *placed*: each environment among the landmarks that it is most like, so that what lies on the map stays
where it is whatever comes later. Axes: N environments, L landmarks, E values of an embedding (rows have
unit length), 2 coordinates. What the axes mean is nothing; near is alike.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MOST = 1024
"""Landmarks that a map has at most: once it has so many it is never drawn again."""
NEIGHBOURS = 8
SHARPNESS = 0.04
"""Cosine distance over which a landmark's pull falls to a third."""
JITTER = 0.012
"""Environments that read alike are set apart by at most this share of the map's radius."""
_FEW = 12  # below this t-SNE has nothing to say that the first two components do not


def due(environments: int, landmarks: int) -> bool:
    """Say whether a map with so many landmarks is to be drawn anew: when the store has about doubled."""
    return min(environments, MOST).bit_length() > min(landmarks, MOST).bit_length()


def draw(embeddings_LE: Array, before_L2: Array | None = None) -> Array:
    """Return places of landmarks, shape (L, 2), within about one unit of the origin.

    ``before_L2``: where they lay on an older map, which the new one begins from and is turned to.
    The same input gives the same map.
    """
    count = len(embeddings_LE)
    start_L2 = _components(embeddings_LE) if before_L2 is None else before_L2
    if count < _FEW:
        return _scaled(start_L2)
    from sklearn.manifold import TSNE

    spread = float(start_L2[:, 0].std()) or 1.0
    # What reads the same would start, and stay, in one point.
    start_L2 = start_L2 + np.random.default_rng(0).normal(0.0, spread * 1e-3, start_L2.shape)
    drawn_L2 = TSNE(
        n_components=2,
        perplexity=min(30.0, (count - 1) / 3),
        init=(start_L2 / spread * 1e-4).astype(np.float32),
        learning_rate="auto",
        early_exaggeration=12.0 if before_L2 is None else 4.0,
        max_iter=750,
        random_state=0,
    ).fit_transform(embeddings_LE.astype(np.float32))
    scaled_L2 = _scaled(np.asarray(drawn_L2, np.float64))
    return scaled_L2 if before_L2 is None else _turned(scaled_L2, before_L2)


def place(embeddings_NE: Array, ids: Sequence[str], landmarks_LE: Array, places_L2: Array) -> Array:
    """Return places of environments among landmarks, shape (N, 2): a mean weighted by likeness."""
    if not len(embeddings_NE):
        return np.zeros((0, 2))
    cosine_NL = embeddings_NE @ landmarks_LE.T
    most = min(NEIGHBOURS, cosine_NL.shape[1])
    nearest_NK = np.argpartition(-cosine_NL, most - 1, axis=1)[:, :most]
    close_NK = np.take_along_axis(cosine_NL, nearest_NK, axis=1)
    pull_NK = np.exp((close_NK - close_NK.max(axis=1, keepdims=True)) / SHARPNESS)
    pull_NK /= pull_NK.sum(axis=1, keepdims=True)
    mean_N2: Array = np.einsum("nk,nkd->nd", pull_NK, places_L2[nearest_NK])
    return mean_N2 + _apart(ids)


def _components(embeddings_LE: Array) -> Array:
    """Return the first two principal components; their signs are fixed by their largest value."""
    centred = embeddings_LE - embeddings_LE.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    found = np.zeros((len(centred), 2))
    width = min(2, left.shape[1])
    found[:, :width] = left[:, :width] * values[:width]
    peaks = found[np.abs(found).argmax(axis=0), (0, 1)]
    signs: Array = np.where(peaks < 0, -1.0, 1.0)
    return found * signs


def _scaled(places_N2: Array) -> Array:
    """Centre and scale so that nearly all lie within one unit of the origin."""
    centred: Array = places_N2 - places_N2.mean(axis=0)
    radius = float(np.quantile(np.linalg.norm(centred, axis=1), 0.98))
    return centred / radius if radius > 0 else centred


def _turned(places_N2: Array, before_N2: Array) -> Array:
    """Turn and mirror a map so that it lies on an older one as well as it can (Procrustes)."""
    left, _, right = np.linalg.svd(places_N2.T @ before_N2)
    turned: Array = places_N2 @ left @ right
    return turned


def _apart(ids: Sequence[str]) -> Array:
    """Return a small shift for each id, always the same for one: evenly over a disc."""
    drawn = [hashlib.sha256(f"map {one}".encode()).digest() for one in ids]
    share_N2 = np.array([[int.from_bytes(d[:4]), int.from_bytes(d[4:8])] for d in drawn]) / 2**32
    radius_N, angle_N = JITTER * np.sqrt(share_N2[:, 0]), 2 * np.pi * share_N2[:, 1]
    return np.stack([radius_N * np.cos(angle_N), radius_N * np.sin(angle_N)], axis=1)
