"""Arms are compared over the seeds of both, whichever set they were judged on."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bench.ablation.outcome import Budget, Health, Trained, lead_abroad
from bench.heldout.results import Result

NONE = (None, None)
HEALTH = Health(NONE, NONE, NONE, NONE, NONE, NONE)


def test_other_seeds_judged_abroad_are_refused(
    heldout_result: Callable[[int, float], Result],
) -> None:
    def judged(arm: str, seed: int) -> Trained:
        both = (heldout_result(0, 0.2), heldout_result(20, 0.5))
        return Trained(arm, seed, 20, both, HEALTH, Budget(1, 1), both)

    high = [judged("self_play", seed) for seed in (0, 1)]
    low = [judged("frozen", seed) for seed in (0, 1)]
    assert lead_abroad(high, low, "sampled").mean == 0
    for fewer in (low[:1], [low[0], replace(low[1], others=())], [low[0], judged("frozen", 2)]):
        with pytest.raises(ValueError, match="seed by seed"):
            lead_abroad(high, fewer, "sampled")
        with pytest.raises(ValueError, match="seed by seed"):
            lead_abroad(fewer, high, "sampled")
