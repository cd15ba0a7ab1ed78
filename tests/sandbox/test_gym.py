"""One source as a gymnasium environment."""

import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from sandbox import EnvironmentFault, SandboxConfig
from sandbox.gym import AnyText, SandboxedEnv


def test_it_passes_the_checker_of_gymnasium_without_a_warning(game: str) -> None:
    env = SandboxedEnv(game, render_mode="ansi")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # No registered name, hence no spec to make it again from.
            warnings.filterwarnings("ignore", message=".*not being able to.*spec.*")
            check_env(env, skip_render_check=True)
    finally:
        env.close()


def test_an_episode_plays_and_renders(game: str) -> None:
    env = SandboxedEnv(game, render_mode="ansi")
    first, info = env.reset(seed=4)
    assert env.reset(seed=4) == (first, info)
    observation, reward, terminated, truncated, _ = env.step("plus \U0001f600")
    assert observation == "0 plus \U0001f600" == env.render()
    assert (reward, terminated, truncated) == (0.0, False, False)
    env.close()
    env.close()


def test_a_seeded_sequence_of_resets_is_repeatable(game: str) -> None:
    env = SandboxedEnv(game)
    runs = []
    for _ in range(2):
        env.reset(seed=9)
        runs.append([env.reset()[0] for _ in range(5)])
    env.close()
    assert runs[0] == runs[1] and len(set(runs[0])) > 1


def test_a_step_before_reset_and_a_bad_source_are_refused(game: str) -> None:
    env = SandboxedEnv(game)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step("x")
    env.close()
    with pytest.raises(EnvironmentFault, match="load"):
        SandboxedEnv("x = 1")


def test_an_action_that_fills_its_frame_is_the_callers_fault_and_not_played(game: str) -> None:
    env = SandboxedEnv(game, SandboxConfig(frame_bytes=4_096, log_bytes=512))
    try:
        env.reset(seed=4)
        for long in ("x" * 5_000, "\u2603" * 400):
            assert long not in env.action_space
            with pytest.raises(gymnasium.error.InvalidAction, match=r"AnyAction\(2048\)"):
                env.step(long)
        longest = "x" * 2_046
        assert longest in env.action_space
        assert env.step(longest)[0] == f"0 {longest}"
    finally:
        env.close()


def test_a_text_space_holds_any_unicode() -> None:
    space = AnyText(10)
    assert "\U0001f600\u202e" in space and "x" * 11 not in space and 3 not in space
    space.seed(1)
    assert all(space.sample() in space for _ in range(20))


def test_a_tool_environment_tells_its_tools_and_passes_the_checker(desk: str) -> None:
    env = SandboxedEnv(desk, render_mode="ansi")
    try:
        observation, info = env.reset(seed=3)
        assert observation == "Where is it?"
        assert [tool["function"]["name"] for tool in info["tools"]] == ["find", "send"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*not being able to.*spec.*")
            check_env(env, skip_render_check=True)
        env.reset(seed=3)
        call = '{"content": "\U0001f600", "tool_calls": [{"name": "find", "arguments": {"name": "\u5c71"}}]}'
        observation, reward, terminated, _, _ = env.step(call)
        assert observation.startswith("parcel ") and (reward, terminated) == (0.0, False)
    finally:
        env.close()


def test_a_vector_of_tool_environments_steps(desk: str) -> None:
    vector = SyncVectorEnv([lambda: SandboxedEnv(desk)] * 2)
    try:
        observations, info = vector.reset(seed=[1, 2])
        assert observations == ("Where is it?",) * 2 and len(info["tools"]) == 2
    finally:
        vector.close()
