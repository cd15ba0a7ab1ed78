import dataclasses
from pathlib import Path

import gymnasium
from gymnasium.utils.env_checker import check_env

from envgen.registry import register
from envgen.seeds import load
from memory import EnvironmentRecord, Store, environment_id


def stored(root: Path) -> str:
    """Publish one seed and return its id."""
    seed = next(seed for seed in load() if seed.name == "beads")
    fields = {field.name: "" for field in dataclasses.fields(EnvironmentRecord)}
    record = EnvironmentRecord(
        **fields
        | {
            "id": environment_id(seed.setting, seed.source, seed.hint),
            "shard": 1,
            "setting": seed.setting,
            "skills": seed.skills,
            "title": "Continue three strings of numbered beads.",
            "source": seed.source,
            "hint": seed.hint,
            "difficulty": seed.difficulty,
            "policy_version": 0,
            "parents": (),
        }
    )
    with Store.open(root, create=True) as store:
        store.publish(1, [record], [], [], [], meta={})
    return record.id


def test_a_stored_environment_is_a_gymnasium_environment(tmp_path: Path) -> None:
    identity = stored(tmp_path / "store")
    (name,) = register(tmp_path / "store")
    assert name == f"spadework/{identity}-v0"
    assert register(tmp_path / "store") == [name]
    env = gymnasium.make(name, render_mode="ansi")
    try:
        check_env(env.unwrapped)
        first, _ = env.reset(seed=7)
        again, _ = env.reset(seed=7)
        other, _ = env.reset(seed=8)
    finally:
        env.close()
    assert first == again != other
