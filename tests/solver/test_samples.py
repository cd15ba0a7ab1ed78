"""Samples out of plays and designs: groups by name, faults left out with their reason."""

from dataclasses import replace

from memory import DesignRecord, PlayRecord
from solver.samples import from_designs, from_plays

PLAY = PlayRecord(
    id="p",
    environment="e1",
    seed=1,
    arm="unhinted",
    purpose="train",
    episode_return=1.0,
    turns=1,
    fault="",
    stop="terminated",
    policy_version=4,
    temperature=1.0,
    ids=(3, 20, 4, 30, 1),
    mask=(0, 0, 0, 1, 1),
    logprobs=(0.0, 0.0, 0.0, -0.5, -0.1),
    transcript="[]",
)
DESIGN = DesignRecord(
    id="d",
    shard=1,
    brief="{}",
    group="b1",
    prompt_ids=(3, 20, 4),
    ids=(30, 31, 1),
    logprobs=(-0.5, -0.2, -0.1),
    text="",
    text_only=False,
    temperature=0.9,
    seed=0,
    policy_version=4,
    outcome="admitted",
    stage="",
    reason="",
    detail="",
    environment="",
    reward=0.4,
)


def test_equal_first_observations_with_different_seeds_stay_separate_groups() -> None:
    batch = from_plays([PLAY, replace(PLAY, seed=2, episode_return=0.0)])
    assert [sample.group for sample in batch.samples] == ["e1/1", "e1/2"]


def test_a_group_whose_plays_all_fault_is_dropped_with_the_reason() -> None:
    fault = replace(PLAY, seed=9, episode_return=None, fault="step:timeout")
    batch = from_plays([PLAY, fault, fault, replace(PLAY, seed=8, episode_return=None, fault="")])
    assert [sample.group for sample in batch.samples] == ["e1/1"]
    assert batch.dropped == {"step:timeout": 2, "faulted": 1}
    assert batch.dropped_groups == ("e1/9", "e1/8")


def test_hinted_and_silent_plays_are_not_trained_on() -> None:
    batch = from_plays([replace(PLAY, arm="hinted"), replace(PLAY, mask=(0,) * 5)])
    assert (batch.samples, batch.dropped) == ((), {"hinted": 1, "nothing sampled": 1})


def test_designs_are_groups_by_brief_with_only_their_completion_trained() -> None:
    (sample,) = from_designs([DESIGN], 4, 0).samples
    assert (sample.group, sample.reward, sample.temperature) == ("b1", 0.4, 0.9)
    assert sample.ids == (3, 20, 4, 30, 31, 1)
    assert sample.mask == (0, 0, 0, 1, 1, 1)
    assert sample.logprobs == (0.0, 0.0, 0.0, -0.5, -0.2, -0.1)


def test_designs_that_cannot_be_trained_on_are_left_out_with_the_reason() -> None:
    batch = from_designs(
        [
            replace(DESIGN, reward=None, outcome="duplicate", stage="diversity"),
            replace(DESIGN, reward=None, outcome="faulted", stage="certificate"),
            replace(DESIGN, reward=None, outcome="refused", stage="hint"),
            replace(DESIGN, reward=None, brief='{"origin": "import"}', text_only=True, ids=()),
            replace(DESIGN, text_only=True, ids=(), logprobs=()),
            replace(DESIGN, logprobs=()),
            replace(DESIGN, policy_version=1),
            replace(DESIGN, ids=(), logprobs=()),
            replace(DESIGN, brief='{"likeliest": {"top_p": 0.9, "top_k": 0}}'),
        ],
        4,
        2,
    )
    assert batch.samples == ()
    assert batch.dropped == {
        "duplicate": 1,
        "our fault": 1,
        "hint refused": 1,
        "imported": 1,
        "text only": 2,
        "too old": 1,
        "nothing sampled": 1,
        "likeliest tokens only": 1,
    }
    assert batch.dropped_groups == ("b1",)
    assert len(from_designs([replace(DESIGN, policy_version=2)], 4, 2).samples) == 1
