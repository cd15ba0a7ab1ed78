"""The contract's pure functions, and the settings' checks."""

import math

import pytest

from sandbox import EnvironmentFault, SandboxConfig, episode_return, game_action


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("", ""),
        ("  north \n", "north"),
        ("I go \\boxed{north}.", "\\boxed{north}"),
        ("\\boxed{a} then \\boxed{b}", "\\boxed{b}"),
        ("\\boxed{{1, {2}}, 3}", "\\boxed{{1, {2}}, 3}"),
        ("\\boxed{a} and \\boxed{b", "\\boxed{a}"),
        ("\\boxed{never closed", "\\boxed{never closed"),
        ("} } \\boxed{x} {", "\\boxed{x}"),
        ("\\boxed{}", "\\boxed{}"),
        ("boxed{x}", "boxed{x}"),
        ("\\boxed{\u00fcber \U0001f600}", "\\boxed{\u00fcber \U0001f600}"),
    ],
)
def test_a_game_receives_the_last_balanced_box_or_the_stripped_reply(
    reply: str, action: str
) -> None:
    assert game_action(reply) == action


def test_a_reply_of_nothing_but_opening_boxes_costs_one_pass() -> None:
    reply = "\\boxed{" * 50_000
    assert game_action(reply) == reply


@pytest.mark.parametrize(
    ("reward", "terminated", "value"),
    [(1.0, True, 1.0), (1.0, False, 0.0), (7.0, True, 1.0), (-2.0, True, 0.0), (0.25, True, 0.25)],
)
def test_a_return_is_the_last_reward_of_a_terminated_episode(
    reward: float, terminated: bool, value: float
) -> None:
    assert episode_return(reward, terminated) == value


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf])
def test_a_return_that_is_not_finite_is_a_fault_and_never_a_win(reward: float) -> None:
    with pytest.raises(EnvironmentFault, match="contract"):
        episode_return(reward, True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"step_s": 0.0},
        {"step_s": math.nan},
        {"load_s": math.inf},
        {"step_s": 10.0, "episode_s": 5.0},
        {"reset_s": 10.0, "episode_s": 5.0},
        {"memory_mb": 1},
        {"memory_mb": 4096},
        {"frame_bytes": 10},
        {"frame_bytes": 10_000_000},
        {"log_bytes": 100_000},
        {"max_source_bytes": 0},
        {"jail_cpus": 0.0},
        {"pool_jails": 0},
        {"isolation": "none"},
    ],
)
def test_settings_that_cannot_be_kept_are_refused_when_they_are_made(
    wrong: dict[str, object],
) -> None:
    with pytest.raises(ValueError, match=r"must"):
        SandboxConfig(**wrong)  # type: ignore[arg-type]


def test_a_fault_says_stage_reason_and_one_short_line() -> None:
    fault = EnvironmentFault("step", "raised", "a\nb  c" + "x" * 1000)
    assert str(fault).startswith("step: raised: a b cxxx")
    assert len(fault.detail) == 400
    with pytest.raises(ValueError, match="unknown"):
        EnvironmentFault("step", "invented", "")
