"""Is a design new? Pure measures of source text, and a decision that explains itself.

Three stages. 1, hard: the digest of the normalised syntax tree, then the exact Jaccard similarity
of its 5-token shingles with every candidate that MinHash finds. Programs in one skeleton share most
of their shingles and may differ in the one function that is the task, so a high similarity refuses
only when no function stands alone. 2, hard: equal behaviour. 3, soft: nearness of meaning; refuses
only above a high bar. The numbers behind the thresholds are in the docstrings of ``MemoryConfig``
and ``Thresholds``. The decision is stored with every environment that is admitted; of a refused
design its stage and its sentence are (``reason`` and ``detail``).
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.bands import PERMUTATIONS, BandIndex, Signature
from memory.normal import Normal, normalise

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

SCHEME = f"datasketch-affine32-{PERMUTATIONS}-shingle5-v1"
_CANDIDATES = 3  # compared exactly; a pair at 0.70 shares 8 bands, one at 0.40 less than 1
_LEAST_SHINGLES = 12  # a function of less says nothing: every program has its like
_KEPT_NORMALS = 512

Neighbour = tuple[str, float]  # id, cosine


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

    Below ``certain`` it is a variant only if each of its functions has a counterpart of at least
    ``function`` in its neighbour, or the other way round (measured: variants from 0.45, other tasks
    in the same skeleton up to 0.29). With ``keep_variants`` shingles and meaning are measured and
    refuse nothing: the same tree with other constants is then a new environment as long as it
    behaves differently.
    """

    jaccard: float = 0.70
    cosine: float = 0.98
    keep_variants: bool = False
    certain: float = 0.90
    function: float = 0.35


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
    function: float = 1.0  # likeness of the function that has the least counterpart in ``nearest``


@dataclass(frozen=True)
class Decision:
    """Accepted, or refused by a stage: ``same tree shingles behaviour meaning``.

    ``nearest`` is the neighbour that decided (or the nearest one), ``similarity`` its Jaccard,
    ``function`` that of the least alike function, ``novelty`` 1 - cosine to the nearest meaning: it
    ranks candidates.
    """

    accepted: bool
    stage: str
    nearest: str
    similarity: float
    nearest_meaning: str
    novelty: float | None
    thresholds: Thresholds
    function: float = 1.0

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
            variant = self.nearest and is_variant(self.similarity, self.function, self.thresholds)
            alike = self.novelty is not None and 1.0 - self.novelty >= self.thresholds.cosine
            parts = ["new"]
            if variant:
                parts = [f"a variant of {self.nearest}, kept because it behaves differently"]
            elif alike:
                parts = [f"close in meaning to {self.nearest_meaning}, kept all the same"]
            if self.nearest:
                parts.append(f"nearest {self.nearest} at Jaccard {self.similarity:.2f}")
            if self.nearest and self.similarity >= self.thresholds.jaccard and not variant:
                parts.append(f"with a function of its own ({self.function:.2f} alike)")
            if self.novelty is not None and self.nearest_meaning:
                parts.append(f"novelty {self.novelty:.3f}, nearest meaning {self.nearest_meaning}")
            return "; ".join(parts)
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
    strict = not thresholds.keep_variants
    if measured.same:
        stage, nearest, similarity = "same", measured.same, 1.0
    elif measured.same_tree and strict:
        stage, nearest, similarity = "tree", measured.same_tree, 1.0
    elif measured.nearest and strict and is_variant(similarity, measured.function, thresholds):
        stage = "shingles"
    elif measured.same_behaviour:
        stage = "behaviour"
        if measured.same_behaviour != measured.nearest:
            nearest, similarity = measured.same_behaviour, 0.0
    elif measured.cosine is not None and strict and measured.cosine >= thresholds.cosine:
        stage = "meaning"
    return Decision(
        accepted=not stage,
        stage=stage,
        nearest=nearest,
        similarity=similarity,
        nearest_meaning=measured.nearest_meaning,
        novelty=None if measured.cosine is None else round(1.0 - measured.cosine, 4),
        thresholds=thresholds,
        function=measured.function,
    )


def is_variant(similarity: float, function: float, thresholds: Thresholds) -> bool:
    """Say whether a neighbour at this Jaccard, and this likeness of the least function, is one."""
    if similarity >= thresholds.certain:
        return True
    return similarity >= thresholds.jaccard and function >= thresholds.function


def least_function(left: Normal, right: Normal) -> float:
    """Return how alike the function is that has the least counterpart in the other program.

    The better of both directions: a variant may have a function too many, that nobody calls.
    """
    return max(_least(left, right), _least(right, left))


def _least(one: Normal, other: Normal) -> float:
    mine = [part for part in one.functions if len(part) >= _LEAST_SHINGLES]
    best = (max((jaccard(part, their) for their in other.functions), default=0.0) for part in mine)
    return min(best, default=1.0)


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
    normal = _normal_of(source)
    return normal.digest, signature_of(normal.shingles)


def _normal_of(source: str) -> Normal:
    try:
        return normalise(source)
    except ValueError:
        text = hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:20]
        return Normal(text, frozenset())


class DiversityFilter:
    """What is known, indexed so that a decision costs milliseconds. Not shared between threads.

    ``source_of`` fetches the source of a candidate whose ``Known.source`` is empty, ``nearest_of``
    the stored environment whose meaning is nearest to an embedding. A known source that is not
    Python is compared by digest only. Programs of one tree are one row of the index.
    """

    def __init__(
        self,
        known: Iterable[Known] = (),
        thresholds: Thresholds = Thresholds(),
        source_of: Callable[[str], str] = lambda _: "",
        nearest_of: "Callable[[Array], Neighbour | None]" = lambda _: None,
    ) -> None:
        self.thresholds = thresholds
        self._source_of = source_of
        self._nearest_of = nearest_of
        self._present: set[str] = set()
        self._sources: dict[str, str] = {}
        self._trees: dict[str, str] = {}
        self._behaviours: dict[str, str] = {}
        self._bands = BandIndex()
        self._rows: list[str] = []  # id of each row of the index
        self._normals: dict[str, Normal] = {}
        self._meanings: list[tuple[str, Array]] = []  # of what was added here
        for one in known:
            digest, signature = one.digest, one.signature
            if not (digest and signature):
                digest, signature = sketch(one.source)
            self._take(one.id, digest, one.fingerprint, signature)
            if one.source:
                self._sources[one.id] = one.source

    def extend(
        self,
        ids: Sequence[str],
        digests: Sequence[str],
        fingerprints: Sequence[str],
        signatures_NP: "npt.NDArray[np.unsignedinteger]",
    ) -> None:
        """Take many stored environments at once; signatures have shape (N, 128)."""
        fresh = []
        for row, (one, digest, fingerprint) in enumerate(
            zip(ids, digests, fingerprints, strict=True)
        ):
            if self._note(one, digest, fingerprint):
                fresh.append(row)
        self._bands.extend(signatures_NP[fresh])

    def __len__(self) -> int:
        return len(self._present)

    def add(
        self,
        id: str,
        source: str,
        fingerprint: str = "",
        embedding: "Sequence[float] | Array | None" = None,
    ) -> None:
        """Take one more environment into what is known: later decisions see it."""
        import numpy as np

        normal = self._normal(id, source)
        self._take(id, normal.digest, fingerprint, signature_of(normal.shingles))
        self._sources[id] = source
        if embedding is not None:
            self._meanings.append((id, np.asarray(embedding, dtype=np.float32)))

    def _take(self, id: str, digest: str, fingerprint: str, signature: Signature) -> None:
        if self._note(id, digest, fingerprint):
            self._bands.add(signature)

    def _note(self, id: str, digest: str, fingerprint: str) -> bool:
        """Remember an environment; say whether its tree is a new row of the index."""
        self._present.add(id)
        if fingerprint:
            self._behaviours.setdefault(fingerprint, id)
        fresh = digest not in self._trees
        if fresh:
            self._trees[digest] = id
            self._rows.append(id)
        return fresh

    def measure(
        self,
        id: str,
        source: str,
        fingerprint: str = "",
        embedding: "Sequence[float] | Array | None" = None,
    ) -> Measured:
        """Measure a design against everything known. Raises ``ValueError`` if not Python."""
        normal = normalise(source)
        nearest, similarity, function = self._nearest(normal)
        meaning, cosine = self._nearest_meaning(embedding)
        return Measured(
            same=id if id in self._present else "",
            same_tree=self._trees.get(normal.digest, ""),
            nearest=nearest,
            similarity=similarity,
            same_behaviour=self._behaviours.get(fingerprint, "") if fingerprint else "",
            nearest_meaning=meaning,
            cosine=cosine,
            function=function,
        )

    def decide(
        self,
        id: str,
        source: str,
        fingerprint: str = "",
        embedding: "Sequence[float] | Array | None" = None,
    ) -> Decision:
        """Measure and judge one design; it is not added. Raises ``ValueError`` if not Python."""
        return judge(self.measure(id, source, fingerprint, embedding), self.thresholds)

    def _nearest(self, normal: Normal) -> tuple[str, float, float]:
        """Return the most similar candidate, or the first that is a variant, with its measures."""
        same = self._trees.get(normal.digest)
        if same is not None:
            return same, 1.0, 1.0
        best = ("", 0.0, 1.0)
        for row in self._bands.sharing(signature_of(normal.shingles), _CANDIDATES):
            one = self._rows[row]
            theirs = self._normal(one, self._sources.get(one) or self._source_of(one))
            similarity = jaccard(normal.shingles, theirs.shingles)
            if similarity > best[1]:
                best = (one, similarity, least_function(normal, theirs))
                if is_variant(best[1], best[2], self.thresholds):
                    break
        return best

    def _normal(self, id: str, source: str) -> Normal:
        """Return the normal form of a known source; the last few are kept."""
        found = self._normals.pop(id, None) or _normal_of(source)
        self._normals[id] = found
        if len(self._normals) > _KEPT_NORMALS:
            self._normals.pop(next(iter(self._normals)))
        return found

    def _nearest_meaning(
        self, embedding: "Sequence[float] | Array | None"
    ) -> tuple[str, float | None]:
        import numpy as np

        if embedding is None:
            return "", None
        mine = np.asarray(embedding, dtype=np.float32)
        found = [(one, float(mine @ vector)) for one, vector in self._meanings]
        stored = self._nearest_of(mine)
        found += [stored] if stored else []
        if not found:
            return "", None
        one, cosine = max(found, key=lambda pair: pair[1])
        # Four digits: how a library adds up floats in a batch must not decide anything.
        return one, round(min(1.0, cosine), 4)
