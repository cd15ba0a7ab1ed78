"""The map on the disk, and the thread that draws it: pages and the API only read what is there.

home/atlas/landmarks.npz   ids, embeddings and places of the landmarks, and the model that embedded them
home/atlas/000012.npz      ids and places of shard 12, and the landmarks' digest that they belong to

All of it can be made again from the store; what is damaged or of another map is.
"""

import hashlib
import io
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from envgen.service.pages.layout import MOST, Array, draw, due, place
from memory import Store
from memory.tables import any_of
from spadekit.errors import BadInput, OurFault
from spadekit.files import write_atomic

Made = TypeVar("Made")
State = Literal["empty", "drawing", "ready", "failed"]
_DAMAGED = (OSError, ValueError, KeyError, EOFError)


@dataclass(frozen=True)
class Map:
    """Places of environments by id. ``digest`` changes when those that were there have moved."""

    digest: str
    places: Mapping[str, tuple[float, float]]
    shards: frozenset[int]


@dataclass(frozen=True)
class _Landmarks:
    ids: tuple[str, ...]
    embeddings_LE: Array
    places_L2: Array
    model: str
    digest: str


class MapMaker:
    """Keeps the map of a store. ``look`` never waits: what is missing is drawn by a thread."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store, self._folder = store, folder
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._map = Map("", {}, frozenset())
        self.problem = ""
        """What kept the map from being drawn the last time, "" when nothing did."""

    def look(self) -> tuple[State, Map]:
        """Return the map as far as it is drawn, and see to it that what is missing will be."""
        shards = frozenset(self._store.numbers())
        with self._lock:
            working = self._thread is not None and self._thread.is_alive()
            if shards == self._map.shards:
                return ("ready" if self._map.places else "empty"), self._map
            if not working and not self._stopping:
                self._thread = threading.Thread(target=self._work, name="map", daemon=True)
                self._thread.start()
                working = True
            return ("drawing" if working else "failed"), self._map

    def wait(self) -> None:
        """Wait for the thread that draws, if there is one."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def stop(self) -> None:
        """Draw nothing more after the shard at hand."""
        self._stopping = True

    def _work(self) -> None:
        try:
            self._update()
            self.problem = ""
        except (BadInput, OurFault, OSError) as error:
            self.problem = " ".join(str(error).split())

    def _update(self) -> None:
        """Draw the map if it is due, then place every shard that is not yet."""
        shards = self._store.numbers()
        self._store.embed()
        landmarks = self._landmarks()
        if landmarks is None:
            self._map = Map("", {}, frozenset(shards))
            return
        places: dict[str, tuple[float, float]] = {}
        for shard in shards:
            if self._stopping:
                return
            places |= self._shard(shard, landmarks)
        self._map = Map(landmarks.digest, places, frozenset(shards))

    def _landmarks(self) -> _Landmarks | None:
        """Return the landmarks, drawn or drawn again when that is due; None while there are none."""
        store = self._store
        found = store.scan("environments", columns=["id", "shard"])
        found = found.sort_by([("shard", "ascending"), ("id", "ascending")])
        if not found.num_rows:
            return None
        path, model = self._folder / "landmarks.npz", store.embedder.name
        before = _read(path, _landmarks_of)
        if before is not None and before.model != model:
            before = None
        if before is not None and not due(found.num_rows, len(before.ids)):
            return before
        ids = found.column("id").to_pylist()[:MOST]
        vectors = self._embeddings(any_of("id", ids))
        ids = [one for one in ids if one in vectors]
        if not ids:
            return None
        embeddings_LE = np.stack([vectors[one] for one in ids])
        start_L2 = None
        if before is not None:
            start_L2 = place(embeddings_LE, ids, before.embeddings_LE, before.places_L2)
        drawn_L2 = draw(embeddings_LE, start_L2)
        _write(
            path,
            ids=np.array(ids),
            embeddings=embeddings_LE,
            places=drawn_L2,
            model=np.array(model),
        )
        return _read(path, _landmarks_of)

    def _shard(self, shard: int, landmarks: _Landmarks) -> dict[str, tuple[float, float]]:
        path = self._folder / f"{shard:06d}.npz"
        known = _read(path, lambda data: _places_of(data, landmarks.digest))
        if known is not None:
            return known
        vectors = self._embeddings(f"shard = {int(shard)}")
        ids = sorted(vectors)
        places_N2 = np.zeros((0, 2))
        if ids:
            embeddings_NE = np.stack([vectors[one] for one in ids])
            places_N2 = place(embeddings_NE, ids, landmarks.embeddings_LE, landmarks.places_L2)
        own = dict(zip(landmarks.ids, landmarks.places_L2, strict=True))
        for row, one in enumerate(ids):
            places_N2[row] = own.get(one, places_N2[row])
        _write(
            path,
            ids=np.array(ids, dtype=np.str_),
            places=places_N2.astype(np.float32),
            landmarks=np.array(landmarks.digest),
        )
        return _read(path, lambda data: _places_of(data, landmarks.digest)) or {}

    def _embeddings(self, where: str) -> dict[str, Array]:
        found = self._store.scan("vectors", where, ["id", "embedding"])
        rows = np.array(found.column("embedding").to_pylist(), dtype=np.float64)
        return dict(zip(found.column("id").to_pylist(), rows, strict=True))


def _read(path: Path, made: Callable[[Mapping[str, Any]], Made | None]) -> Made | None:
    """Return what ``made`` makes of a file's arrays; None for one that is missing or damaged."""
    try:
        body = path.read_bytes()
        with np.load(io.BytesIO(body), allow_pickle=False) as data:
            return made({**data, "digest": hashlib.sha256(body).hexdigest()[:16]})
    except _DAMAGED:
        return None


def _write(path: Path, **arrays: Any) -> None:
    body = io.BytesIO()
    np.savez_compressed(body, **arrays)
    write_atomic(path, body.getvalue())


def _landmarks_of(data: Mapping[str, Any]) -> _Landmarks:
    ids = tuple(str(one) for one in data["ids"])
    landmarks = _Landmarks(
        ids, data["embeddings"], data["places"], str(data["model"]), str(data["digest"])
    )
    if landmarks.embeddings_LE.shape[0] != len(ids) or landmarks.places_L2.shape != (len(ids), 2):
        raise ValueError("arrays of different lengths")
    return landmarks


def _places_of(data: Mapping[str, Any], landmarks: str) -> dict[str, tuple[float, float]] | None:
    if str(data["landmarks"]) != landmarks:
        return None
    ids = [str(one) for one in data["ids"]]
    return {one: (float(x), float(y)) for one, (x, y) in zip(ids, data["places"], strict=True)}
