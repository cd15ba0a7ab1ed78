"""Search by meaning and words, fused by reciprocal rank, with filters."""

import difflib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory.embedding import Embedder
from memory.fusion import fuse
from memory.schema import LARGEST, SETTINGS, EnvironmentRecord, StandingRecord
from memory.standing import STATUSES
from memory.tables import Tables, any_of, quoted
from spadekit.errors import BadInput

Band = tuple[float, float]

_PREFILTER = 2_000  # up to so many ids go into the query; more are filtered after it
_FILTERED_AFTER = 200  # so many candidates are quicker to filter than ids are to put into a query
_WIDEST = 1_000_000


@dataclass(frozen=True)
class Query:
    """What is looked for. Empty strings and None do not filter; ``like`` is a full id."""

    text: str = ""
    like: str = ""
    setting: str = ""
    skill: str = ""
    shard: int | None = None
    regret: Band | None = None
    episode_return: Band | None = None
    status: str = ""
    limit: int = 10

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise BadInput(f"limit {self.limit}: ask for at least 1")
        if self.text and self.like:
            raise BadInput("give either words or --like, not both")
        check_known("status", self.status, STATUSES)
        check_range("shard", self.shard)
        check_known("setting", self.setting, SETTINGS)
        for name, band in (("regret", self.regret), ("return", self.episode_return)):
            if band is not None and not band[0] <= band[1]:
                raise BadInput(f"{name} {band[0]}..{band[1]}: the low end comes first")

    @property
    def by_standing(self) -> bool:
        """Whether figures of the standings are asked for."""
        return bool(self.status) or self.regret is not None or self.episode_return is not None


@dataclass(frozen=True)
class Ranked:
    """A candidate: fused score (higher is better), cosine to the query (None: not measured)."""

    id: str
    score: float
    similarity: float | None


@dataclass(frozen=True)
class Hit:
    """One result: the environment, its scores, and its newest standing if it has one."""

    environment: EnvironmentRecord
    score: float
    similarity: float | None
    standing: StandingRecord | None


def check_known(what: str, word: str, known: Sequence[str]) -> None:
    """Refuse a word that is not one of ``known``, with the nearest; "" filters nothing."""
    if word and word not in known:
        near = difflib.get_close_matches(word, known, 3, 0.5)
        names = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(known)}"
        raise BadInput(f"{what} {word!r} is unknown; {names}")


def check_range(what: str, number: int | None) -> None:
    """Refuse a shard or policy version that no store can have. Raises ``BadInput``."""
    if number is not None and not 0 <= number <= LARGEST:
        raise BadInput(f"{what} {number} is out of range: 0 to {LARGEST}")


def check_skill(skill: str, known: Sequence[str]) -> None:
    """Refuse a skill that no environment has, with the nearest names. Raises ``BadInput``."""
    wanted = canonical_skill(skill)
    if wanted in known or not known:
        return
    near = difflib.get_close_matches(wanted, known, 3, 0.5)
    names = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(known)}"
    raise BadInput(f"no environment has the skill {skill!r}; {names}")


def status_of(standing: StandingRecord | None) -> str:
    """Return the status of a standing that may be missing."""
    return "unmeasured" if standing is None else standing.status


def parse_band(text: str) -> Band | None:
    """Read ``lo..hi``, either end optional; "" is no band. Raises ``BadInput``."""
    if not text:
        return None
    low, dots, high = text.partition("..")
    try:
        band = (float(low or "-inf"), float(high or "inf"))
    except ValueError:
        band = (math.nan, math.nan)
    if not dots or not band[0] <= band[1]:
        raise BadInput(f"{text!r} is not a range; write it like 0.2..0.8, 0.2.. or ..0.8")
    return band


def filters(setting: str, skill: str, shard: int | None) -> str:
    """Return the SQL filter on what never changes about an environment. Raises ``BadInput``."""
    check_known("setting", setting, SETTINGS)
    check_range("shard", shard)
    parts = []
    if setting:
        parts.append(f"setting = {quoted(setting)}")
    if skill:
        parts.append(f"array_has(skills, {quoted(canonical_skill(skill))})")
    if shard is not None:
        parts.append(f"shard = {int(shard)}")
    return " AND ".join(parts)


def canonical_skill(text: str) -> str:
    """Return a skill as it is stored: lower case, words joined by underscores."""
    return re.sub(r"[\s\-]+", "_", text.strip().lower())


def passes(standing: StandingRecord | None, query: Query) -> bool:
    """Say whether a standing meets the query's status and bands; unknown figures never do."""
    if query.status and status_of(standing) != query.status:
        return False
    figures = (
        (query.regret, standing.regret if standing else math.nan),
        (query.episode_return, standing.return_unhinted if standing else math.nan),
    )
    return all(band is None or band[0] <= value <= band[1] for band, value in figures)


class Latest(Mapping[str, StandingRecord]):
    """The newest standing of every environment, by id, also as columns to filter many at once."""

    def __init__(self, records: Mapping[str, StandingRecord]) -> None:
        import numpy as np

        self._records = records
        self._ids = list(records)
        statuses = np.array([one.status for one in records.values()], dtype=np.str_)
        # Comparing 200,000 texts takes a millisecond, numbers next to nothing.
        self._statuses, self._status = np.unique(statuses, return_inverse=True)
        self._regret = np.array([one.regret for one in records.values()], dtype=np.float64)
        returns = [one.return_unhinted for one in records.values()]
        self._return = np.array(returns, dtype=np.float64)

    def __getitem__(self, environment: str) -> StandingRecord:
        return self._records[environment]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def passing(self, query: Query, most: int) -> tuple[list[str] | None, float]:
        """Return the ids whose standing ``passes``, None for more than ``most``, and their share."""
        import numpy as np

        kept = np.ones(len(self._ids), dtype=bool)
        if query.status:
            kept &= (self._statuses == query.status)[self._status]
        for band, values in ((query.regret, self._regret), (query.episode_return, self._return)):
            if band is not None:
                kept &= (values >= band[0]) & (values <= band[1])  # nan compares false
        rows = np.flatnonzero(kept)
        ids = None if len(rows) > most else [self._ids[int(row)] for row in rows]
        return ids, len(rows) / max(1, len(self._ids))


def rank(tables: Tables, embedder: Embedder, query: Query, latest: Latest) -> list[Ranked]:
    """Return the best ``query.limit`` environments in order."""
    where = filters(query.setting, query.skill, query.shard)
    if not query.text and not query.like:
        return _by_filters(tables, query, where, latest)
    # Ranks below the window hardly count; a filter that drops most of it makes the window grow.
    window = max(50, 5 * query.limit)
    if query.by_standing and query.status != "unmeasured":
        allowed, share = latest.passing(query, _PREFILTER)
        if share == 0.0:
            return []
        needed = math.ceil(2 * query.limit / share)
        if allowed is None or needed <= _FILTERED_AFTER:
            window = max(window, needed)
        else:
            where = " AND ".join(filter(None, [where, any_of("id", allowed)]))
    vector = _vector(tables, embedder, query)
    while True:
        near, worded = tables.nearest_and_matching(vector, query.text, where, window)
        exhausted = len(near) < window
        near = [(i, s) for i, s in near if i != query.like and passes(latest.get(i), query)]
        worded = [i for i in worded if passes(latest.get(i), query)]
        if exhausted or len(near) >= query.limit or window >= _WIDEST:
            break
        window *= 4
    similarity = dict(near)
    scores = fuse([i for i, _ in near], worded)
    order = sorted(scores, key=lambda one: (-scores[one], -similarity.get(one, -1.0), one))
    return [Ranked(one, scores[one], similarity.get(one)) for one in order[: query.limit]]


def _by_filters(
    tables: Tables, query: Query, where: str, latest: Mapping[str, StandingRecord]
) -> list[Ranked]:
    ids = tables.scan("environments", where, ["id"]).column("id").to_pylist()
    kept = [one for one in ids if passes(latest.get(one), query)]

    def regret(one: str) -> float:
        value = latest[one].regret if one in latest else math.nan
        return -2.0 if math.isnan(value) else value

    kept.sort(key=lambda one: (-regret(one), one))
    return [Ranked(one, 0.0, None) for one in kept[: query.limit]]


def _vector(tables: Tables, embedder: Embedder, query: Query) -> list[float]:
    if query.text:
        return [float(value) for value in embedder.embed_query(query.text)]
    found = tables.scan("vectors", f"id = {quoted(query.like)}", ["embedding"], limit=1)
    return [float(value) for value in found.column("embedding")[0].as_py()]
