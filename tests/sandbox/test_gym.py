"""One source as a gymnasium environment."""

import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from sandbox import EnvironmentFault, SandboxConfig
from sandbox.gym import AnyText, SandboxedEnv

ODD = ("\U0001f600 \u202e", "\u0645\u0631\u062d\u0628\u0627", "\x07\ttab", "")


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


def test_an_environment_made_by_its_id_passes_the_checker_without_a_warning(game: str) -> None:
    name = "spadework/checked-v0"
    gymnasium.register(
        name,
        entry_point="sandbox.gym:SandboxedEnv",
        kwargs={"source": game},
        order_enforce=False,
        disable_env_checker=True,
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            env = gymnasium.make(name, render_mode="ansi")
            check_env(env)
            env.close()
    finally:
        del gymnasium.registry[name]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_vector_environments_carry_any_unicode_text(game: str, kind: str) -> None:
    makers = [lambda: SandboxedEnv(game) for _ in ODD]
    vector = (
        SyncVectorEnv(makers) if kind == "sync" else AsyncVectorEnv(makers, shared_memory=False)
    )
    try:
        observations, _ = vector.reset(seed=list(range(len(ODD))))
        assert all(text.startswith("Reach") for text in observations)
        observations, rewards, terminated, truncated, _ = vector.step(ODD)
        assert tuple(observations) == tuple(f"0 {text}" for text in ODD)
        assert not rewards.any() and not terminated.any() and not truncated.any()
        assert vector.action_space.contains(vector.action_space.sample())
    finally:
        vector.close()
