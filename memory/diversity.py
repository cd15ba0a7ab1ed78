"""Is a design new? Pure measures of source text, and a decision that explains itself.

Three stages. 1, hard: the digest of the normalised syntax tree, then the exact Jaccard similarity
of its 5-token shingles with every candidate that MinHash finds. 2, hard: equal behaviour. 3, soft:
nearness of meaning; refuses only above a high bar, and acts only for a caller that passes
embeddings: the loop measures no meaning yet. The numbers behind the thresholds are in the docstring
of ``MemoryConfig``. The decision is stored with every environment that is admitted; of a refused
design its stage and its sentence are (``reason`` and ``detail``).
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.normal import Normal, normalise

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PERMUTATIONS = 128
# 32 bands of 4: a pair at Jaccard 0.70 shares a band with probability 0.9998, at 0.20 with 0.05.
BANDS = 32
SCHEME = f"datasketch-affine32-{PERMUTATIONS}-shingle5-v1"

Signature = tuple[int, ...]


@dataclass(frozen=True)
class Known:
    """What the filter compares with. Digest and signature empty: computed from the source."""

    id: str
    source: str
    digest: str = ""
    fingerprint: str = ""
    signature: Signature = ()


@dataclass(frozen=True)
class Thresholds:
    """From ``jaccard`` on a design is a variant; from ``cosine`` on its meaning is not new.

    With ``keep_variants`` the first stage measures and does not refuse: same tree, other constants
    is then a new environment as long as it behaves differently.
    """

    jaccard: float = 0.70
    cosine: float = 0.98
    keep_variants: bool = False


@dataclass(frozen=True)
class Measured:
    """What was measured of a design against everything known; ids are "" where there is none."""

    same: str  # the very same environment
    same_tree: str
    nearest: str  # by shingles, among the MinHash candidates
    similarity: float  # exact Jaccard with ``nearest``
    same_behaviour: str
    nearest_meaning: str
    cosine: float | None  # with ``nearest_meaning``; None: no embeddings were compared


@dataclass(frozen=True)
class Decision:
    """Accepted, or refused by a stage: ``same tree shingles behaviour meaning``.

    ``nearest`` is the neighbour that decided (or the nearest one), ``similarity`` its Jaccard,
    ``novelty`` 1 - cosine to the nearest meaning: it ranks candidates.
    """

    accepted: bool
    stage: str
    nearest: str
    similarity: float
    nearest_meaning: str
    novelty: float | None
    thresholds: Thresholds

    def to_json(self) -> str:
        """Return the decision as JSON, the form in which records keep it."""
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def from_json(text: str) -> "Decision":
        """Read what ``to_json`` wrote."""
        values = json.loads(text)
        return Decision(**{**values, "thresholds": Thresholds(**values["thresholds"])})

    @property
    def explanation(self) -> str:
        """The decision in one sentence."""
        if self.accepted:
            near = (
                f"; nearest {self.nearest} at Jaccard {self.similarity:.2f}" if self.nearest else ""
            )
            return f"new{near}"
        reasons = {
            "same": "already in the memory, word for word",
            "tree": f"same syntax tree as {self.nearest} but for names and constants",
            "shingles": f"variant of {self.nearest}: Jaccard {self.similarity:.2f} "
            f">= {self.thresholds.jaccard:.2f}",
            "behaviour": f"behaves exactly like {self.nearest}",
            "meaning": f"too close in meaning to {self.nearest_meaning}: cosine "
            f"{1.0 - (self.novelty or 0.0):.3f} >= {self.thresholds.cosine:.3f}",
        }
        return reasons[self.stage]


def judge(measured: Measured, thresholds: Thresholds) -> Decision:
    """Decide from what was measured; the first stage that refuses is named."""
    stage, nearest, similarity = "", measured.nearest, measured.similarity
    if measured.same:
        stage, nearest, similarity = "same", measured.same, 1.0
    elif measured.same_tree and not thresholds.keep_variants:
        stage, nearest, similarity = "tree", measured.same_tree, 1.0
    elif (
        measured.nearest
        and measured.similarity >= thresholds.jaccard
        and not thresholds.keep_variants
    ):
        stage = "shingles"
    elif measured.same_behaviour:
        stage = "behaviour"
        if measured.same_behaviour != measured.nearest:
            nearest, similarity = measured.same_behaviour, 0.0
    elif measured.cosine is not None and measured.cosine >= thresholds.cosine:
        stage = "meaning"
    novelty = None if measured.cosine is None else 1.0 - measured.cosine
    return Decision(
        not stage, stage, nearest, similarity, measured.nearest_meaning, novelty, thresholds
    )


def tree_digest(source: str) -> str:
    """Return the digest of the normalised syntax tree. Raises ``ValueError`` if not Python."""
    return normalise(source).digest


def shingles(source: str) -> frozenset[str]:
    """Return the 5-token shingles of the normalised tree. Raises ``ValueError``."""
    return normalise(source).shingles


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the share of common members; two empty sets are alike."""
    union = len(left | right)
    return len(left & right) / union if union else 1.0


def signature_of(parts: frozenset[str]) -> Signature:
    """Return the MinHash signature of shingles: 128 numbers below 2**32."""
    from datasketch import MinHash

    sketch = MinHash(num_perm=PERMUTATIONS, scheme="affine32")
    sketch.update_batch([part.encode("utf-8", "replace") for part in parts])
    return tuple(int(value) for value in sketch.hashvalues)


def sketch(source: str) -> tuple[str, Signature]:
    """Return tree digest and signature; what is not Python has its own digest and no shingles."""
    try:
        normal = normalise(source)
    except ValueError:
        text = hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:20]
        normal = Normal(text, frozenset())
    return normal.digest, signature_of(normal.shingles)


class DiversityFilter:
    """What is known, indexed so that a decision costs milliseconds. Not shared between threads.

    Candidates are found by comparing bands of signatures with one NumPy expression: 32 numbers per
    known environment, 51 MB at 200,000 of them. ``source_of`` fetches the source of a candidate
    whose ``Known.source`` is empty. A known source that is not Python is compared by digest only.
    """

    def __init__(
        self,
        known: Iterable[Known] = (),
        thresholds: Thresholds = Thresholds(),
        source_of: Callable[[str], str] = lambda _: "",
    ) -> None:
        import numpy as np

        self.thresholds = thresholds
        self._source_of = source_of
        self._ids: list[str] = []
        self._present: set[str] = set()
        self._sources: dict[str, str] = {}
        self._trees: dict[str, str] = {}
        self._behaviours: dict[str, str] = {}
        self._bands: npt.NDArray[np.uint64] = np.zeros((1024, BANDS), np.uint64)
        self._meaning_ids: list[str] = []
        self._meanings: list[npt.NDArray[np.float32]] = []
        for one in known:
            self._take(one, None)

    def __len__(self) -> int:
        return len(self._ids)

    def add(
        self,
        id: str,
        source: str,
        fingerprint: str = "",
        embedding: Sequence[float] | None = None,
    ) -> None:
        """Take one more environment into what is known: later decisions see it."""
        self._take(Known(id, source, fingerprint=fingerprint), embedding)

    def _take(self, known: Known, embedding: Sequence[float] | None) -> None:
        import numpy as np

        digest, signature = known.digest, known.signature
        if not (digest and signature):
            digest, signature = sketch(known.source)
        count = len(self._ids)
        if count == len(self._bands):
            self._bands = np.concatenate([self._bands, np.zeros_like(self._bands)])
        self._bands[count] = _bands(signature)
        self._ids.append(known.id)
        self._present.add(known.id)
        if known.source:
            self._sources[known.id] = known.source
        self._trees.setdefault(digest, known.id)
        if known.fingerprint:
            self._behaviours.setdefault(known.fingerprint, known.id)
        if embedding is not None:
            self._meaning_ids.append(known.id)
            self._meanings.append(np.asarray(embedding, dtype=np.float32))

    def measure(
        self,
        id: str,
        source: str,
        fingerprint: str = "",
        embedding: Sequence[float] | None = None,
    ) -> Measured:
        """Measure a design against everything known. Raises ``ValueError`` if not Python."""
        normal = normalise(source)
        nearest, similarity = "", 0.0
        for one in self._candidates(signature_of(normal.shingles)):
            try:
                theirs = shingles(self._sources.get(one) or self._source_of(one))
            except ValueError:
                continue
            value = jaccard(normal.shingles, theirs)
            if value > similarity:
                nearest, similarity = one, value
        meaning, cosine = self._nearest_meaning(embedding)
        return Measured(
            same=id if id in self._present else "",
            same_tree=self._trees.get(normal.digest, ""),
            nearest=nearest,
            similarity=similarity,
            same_behaviour=self._behaviours.get(fingerprint, "") if fingerprint else "",
            nearest_meaning=meaning,
            cosine=cosine,
        )

    def decide(
        self,
        id: str,
        source: str,
        fingerprint: str = "",
        embedding: Sequence[float] | None = None,
    ) -> Decision:
        """Measure and judge one design; it is not added. Raises ``ValueError`` if not Python."""
        return judge(self.measure(id, source, fingerprint, embedding), self.thresholds)

    def _candidates(self, signature: Signature, most: int = 8) -> list[str]:
        """Return the ids that share a band, those that share most first, at most ``most``."""
        import numpy as np

        shared = (self._bands[: len(self._ids)] == _bands(signature)).sum(axis=1)
        hits = np.flatnonzero(shared)
        best = hits[np.argsort(-shared[hits], kind="stable")][:most]
        return [self._ids[int(index)] for index in best]

    def _nearest_meaning(self, embedding: Sequence[float] | None) -> tuple[str, float | None]:
        import numpy as np

        if embedding is None or not self._meanings:
            return "", None
        cosines = np.stack(self._meanings) @ np.asarray(embedding, dtype=np.float32)
        best = int(cosines.argmax())
        return self._meaning_ids[best], float(min(1.0, cosines[best]))


def _bands(signature: Signature) -> "npt.NDArray[np.uint64]":
    """Return one 64-bit number per band of four signature values."""
    import numpy as np

    rows = np.array(signature, dtype=np.uint64).reshape(BANDS, -1)
    mixed = np.zeros(BANDS, np.uint64)
    for column in rows.T:
        # Overflow wraps, as intended: a polynomial hash modulo 2**64.
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + column + np.uint64(1)
    return mixed
