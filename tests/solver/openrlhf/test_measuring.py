"""What a step's record says: nothing that was not measured, and nothing lost without a count."""

from types import SimpleNamespace
from typing import Any

from memory import PlayRecord
from solver.episodes import Job
from solver.metrics import of_samples
from solver.openrlhf.measuring import of_plays, together
from solver.samples import Batch, Sample


def play(seed: int) -> PlayRecord:
    return PlayRecord(
        *("id", "env", seed, "unhinted", "train", 1.0, 1, "", "terminated", 0, 1.0),
        *((1, 2), (0, 1), (0.0, -1.0), "[]"),
    )


def test_groups_that_were_never_played_are_counted() -> None:
    jobs = [Job("env", "source", seed, None, member) for seed in (0, 1) for member in range(4)]
    step: Any = SimpleNamespace(jobs=jobs)
    batch = of_plays(step, [play(0)] * 4)
    assert len(batch.samples) == 4
    assert batch.dropped == {"not played": 4} and batch.dropped_groups == ("env/1",)
    assert of_plays(step, [play(0), play(1)]).dropped == {}


def test_a_play_of_several_sequences_weighs_as_one() -> None:
    def sample(reward: float, share: float) -> Sample:
        return Sample("g", "g", (1, 2), (0, 1), (0.0, -1.0), reward, 1.0, 0, False, share)

    batch = Batch((sample(1.0, 1.0), *[sample(0.0, 0.25)] * 4))
    assert of_samples(batch, 0).reward == 0.5


def test_what_was_not_logged_is_not_there() -> None:
    assert together([{}, {}]) == {}
    assert together([{"timing/generation": 1.0}, {"timing/generation": 2.0, "kl": 3.0}]) == {
        "timing/generation": 3.0,
        "kl": 3.0,
    }
