"""Forty programs, six mechanical variants of each, and forty look-alikes that are other tasks."""

import ast

import pytest

from bench.memory import duplicates, programs


def test_variants_are_refused_and_no_look_alike_is():
    verdicts = duplicates.judge_all()
    assert (verdicts.programs, verdicts.look_alikes) == (40, 40)
    assert verdicts.recall >= 0.98, verdicts.refused
    assert verdicts.wrong == ()


def test_the_sets_hold_eighty_different_programs():
    tasks = (*programs.known(), *programs.look_alikes())
    assert len({task.name for task in tasks}) == 80
    assert len({ast.dump(ast.parse(task.source)) for task in tasks}) == 80


@pytest.mark.parametrize("count", [40, 3000])
def test_what_is_known_is_found_among_many(count):
    known = duplicates.filled(count)
    assert len(known) == count
    for task in programs.known():
        assert known.decide("new", task.source).stage == "tree"
