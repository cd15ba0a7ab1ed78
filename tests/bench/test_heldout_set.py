"""The held-out set that ships: what it holds, and that nothing of it was trained on."""

from collections import Counter

from bench.heldout.dataset import read_set
from bench.heldout.make import SEEDS, seeds
from solver.embedded import novelty
from solver.embedded.grammar import FAMILIES


def test_the_set_holds_every_family_at_levels_two_to_five_and_the_seed_library() -> None:
    found = read_set("embedded").environments
    programs = [one for one in found if one.family != SEEDS]
    assert len(programs) >= 150
    assert {one.skill for one in programs} == set(FAMILIES)
    assert {one.level for one in programs} == {2, 3, 4, 5}
    counts = Counter(one.skill for one in programs)
    assert min(counts.values()) >= 9
    assert tuple(seeds()) == tuple(one for one in found if one.family == SEEDS)


def test_no_program_of_the_set_was_trained_on_or_stands_twice() -> None:
    programs = [one for one in read_set("embedded").environments if one.family != SEEDS]
    digests = {novelty.digest(one.source) for one in programs}
    assert len(digests) == len(programs)
    facts = {**novelty.shipped_facts(), "pools": {"designer": 10}}
    assert not digests & novelty.training_digests(facts)
