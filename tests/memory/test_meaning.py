"""Stage 3: meanings are compared with the memory and the batch, and a shard's variety is measured."""

import numpy as np
import pytest

from memory.diversity import DiversityFilter
from memory.variety import FEW, alarm, is_collapsed, variety

_BODIES = (
    "return sorted(range(9), key=lambda n: -n)[0], {}",
    "self.at = {n: n * n for n in (3, 4) if seed}; return str(self.at), {}",
    "while seed and seed % 2: seed //= 2\n        return [seed] or None, {}",
)


def _source(number):
    body = _BODIES[number % 3]
    return f"class N{number}Env:\n    def reset(self, seed=None):\n        {body}\n"


def test_the_nearest_meaning_is_looked_for_in_the_memory_and_in_the_batch():
    stored = np.array([1.0, 0.0], np.float32)
    known = DiversityFilter(nearest_of=lambda vector: ("stored", float(stored @ vector)))
    first = known.decide("a", _source(1), embedding=[0.6, 0.8])
    assert (first.nearest_meaning, first.novelty) == ("stored", 0.4)
    known.add("a", _source(1), embedding=[0.6, 0.8])
    second = known.decide("b", _source(5), embedding=[0.0, 1.0])
    assert (second.nearest_meaning, second.novelty) == ("a", 0.2)
    assert "novelty 0.200, nearest meaning a" in second.explanation


def test_how_a_library_adds_up_floats_decides_nothing():
    known = DiversityFilter(nearest_of=lambda _: ("stored", 0.98 - 3e-7))
    assert known.decide("a", _source(1), embedding=[1.0]).stage == "meaning"


def test_the_filter_of_a_store_asks_its_embeddings(full, make):
    full.embed()
    known = full.diversity_filter()
    same = full.embedder.embed_query("Move a barge through canal locks to the sea.")
    decision = known.decide("new", _source(2), embedding=same)
    assert decision.nearest_meaning == make.environment(0).id
    assert 0.0 < decision.novelty < 0.4


@pytest.mark.parametrize(
    ("share", "count", "collapsed"),
    [(None, 50, False), (0.1, FEW - 1, False), (0.1, FEW, True), (0.2, 50, False)],
)
def test_when_a_shard_has_collapsed(share, count, collapsed):
    assert is_collapsed(share, count, 0.2) is collapsed


def test_the_variety_of_a_shard():
    alike = np.repeat(np.eye(1, 4, dtype=np.float32), 10, axis=0)
    found = variety(alike, [0.0, 0.5, 0.1], 0.2)
    assert (found.vendi_share, found.nearest_least, found.nearest_median) == (0.1, 0.0, 0.1)
    assert found.collapsed
    assert "10 environments count as 1.0" in alarm(3, found.vendi_share, 10)
    nothing = variety(None, [], 0.2)
    assert (nothing.vendi_share, nothing.nearest_median, nothing.collapsed) == (None, None, False)
