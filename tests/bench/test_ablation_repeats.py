"""Programs that an arm designed itself are left out of what the arms are judged on."""

from collections.abc import Callable
from dataclasses import replace

from bench.ablation.outcome import Budget, Health, Trained, gain, without
from bench.ablation.repeats import elsewhere, repeated
from bench.heldout.dataset import read_set
from bench.heldout.results import Result
from solver.embedded.novelty import digest

NONE = (None, None)
HEALTH = Health(NONE, NONE, NONE, NONE, NONE, NONE)
SET = read_set("embedded").environments


def test_a_program_with_other_names_and_layout_is_a_repeat_and_another_is_not() -> None:
    first, second = SET[:2]
    renamed = first.source.replace("self.", "me.").replace("(self", "(me") + "\n\n# a remark\n"
    assert renamed != first.source
    assert repeated([first, second], frozenset({digest(renamed)})) == {first.id}
    assert repeated([first, second], frozenset()) == frozenset()


def test_what_is_no_python_is_no_repeat() -> None:
    broken = replace(SET[0], source="def (:")
    assert repeated([broken], frozenset({"x"})) == frozenset()


def test_late_designs_are_compared_with_those_of_other_arms_only() -> None:
    designs = {"self_play": frozenset({"a", "b"}), "frozen": frozenset({"b", "c"})}
    assert elsewhere(designs, "self_play") == {"b", "c"}
    assert elsewhere(designs, "fixed_pool") == {"a", "b", "c"}


def test_an_environment_that_is_left_out_counts_at_no_version(
    heldout_result: Callable[[int, float], Result],
) -> None:
    results = (heldout_result(0, 0.2), heldout_result(20, 0.8))
    one = Trained("self_play", 0, 20, results, HEALTH, Budget(1, 1))
    gone = {each.id for each in results[0].environments[:3]}
    [left] = without([one], gone)
    assert left.left_out == 3
    for result in left.results:
        assert gone.isdisjoint(each.id for each in result.environments)
    assert gain([left], "sampled").clusters == gain([one], "sampled").clusters - 3
