"""Exports: what is written, and that it plays against the real packages where they are installed."""

import asyncio
import dataclasses
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from envgen.cli_export import save
from envgen.export import KINDS, Exportable, render
from envgen.seeds import load
from envgen.sourcefile import parse
from sandbox import Sandbox, schema
from spadekit.errors import BadInput

SEEDS = {"beads": "game", "parcels": "tool_use", "ferry": "game"}
PYTHON = os.environ.get("SPADEWORK_EXPORT_PYTHON", sys.executable)
"""The interpreter for packages that are not installed here (verifiers, OpenEnv)."""


@pytest.fixture(scope="module")
def exportables() -> dict[str, Exportable]:
    async def describe() -> dict[str, Exportable]:
        found = {}
        async with Sandbox() as sandbox:
            for seed in load():
                if seed.name in SEEDS:
                    async with await sandbox.open(seed.source) as jail:
                        found[seed.name] = Exportable(
                            seed.source, seed.hint, seed.skills, seed.difficulty, jail.info
                        )
        return found

    return asyncio.run(describe())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to export into and import from; what was imported is forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in gymnasium.registry if name.startswith("spadework/")]:
        del gymnasium.registry[name]
    for name in set(sys.modules) - before:
        if name.partition(".")[0].endswith("_env") or name in ("envkit",):
            del sys.modules[name]


def package(
    env: Exportable, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> ModuleType:
    monkeypatch.syspath_prepend(str(save(folder, env, kind)))
    importlib.invalidate_caches()
    return importlib.import_module(env.slug)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SEEDS)
def test_every_export_carries_the_program_to_the_byte(
    exportables: dict[str, Exportable], name: str, kind: str
) -> None:
    env = exportables[name]
    files = render(env, kind)
    if kind == "source":
        [text] = files.values()
        read = parse(text)
        assert (read.source, read.hint, read.skills) == (env.source, env.hint, env.skills)
        return
    named = {path.rpartition("/")[2]: text for path, text in files.items()}
    assert env.source in files.values()
    assert ("envkit.py" in named) == (SEEDS[name] == "tool_use")
    assert "Safety" in named["README.md"]
    assert tomllib.loads(named["pyproject.toml"])["project"]["name"] == env.slug.replace("_", "-")
    assert not any("ENV_" in text for text in files.values() if text != env.source)
    code = [text for path, text in files.items() if path.endswith(".py") and text != env.source]
    assert all(env.hint not in text for text in code)
    for path, text in files.items():
        if path.endswith(".py"):
            compile(text, path, "exec")


@pytest.mark.parametrize("name", SEEDS)
def test_gymnasium_checks_and_plays_the_export(
    exportables: dict[str, Exportable],
    name: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = exportables[name]
    package(env, "gymnasium", folder, monkeypatch)
    made = gymnasium.make(f"spadework/{env.name}-v0", render_mode="ansi")
    check_env(made.unwrapped, skip_render_check=True)
    first, info = made.reset(seed=7)
    assert info == {"seed": 7}
    assert made.reset(seed=7)[0] == first
    reward, terminated = 0.0, False
    for action in made.unwrapped._episode.solution():
        text, reward, terminated, truncated, info = made.step(action)
        assert made.render() == text
        assert not truncated
    assert (terminated, reward, info["score"]) == (True, 1.0, 1.0)
    with pytest.raises(RuntimeError):
        made.unwrapped.step("again")


def test_an_export_leaves_the_random_numbers_of_its_host_alone(
    exportables: dict[str, Exportable], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import random

    env = dataclasses.replace(
        exportables["beads"],
        source=exportables["beads"].source.replace("random.Random(seed)", "random"),
    )
    made = package(env, "gymnasium", folder, monkeypatch)
    episode = sys.modules[made.__name__ + ".episode"].Episode()
    state = random.getstate()
    first = episode.reset(3)
    episode.step("1")
    assert random.getstate() == state
    assert episode.reset(3) == first


def test_trl_sees_typed_documented_tools_and_the_solution_wins(
    exportables: dict[str, Exportable], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers.utils import get_json_schema

    env = exportables["parcels"]
    made = getattr(package(env, "trl", folder, monkeypatch), f"{env.name}Env")()
    tools = {tool["function"]["name"]: tool["function"] for tool in env.info.tools}
    for name, function in tools.items():
        schema = get_json_schema(getattr(made, name))["function"]
        assert schema["description"].startswith(function["description"].split("\n")[0])
        assert set(schema["parameters"]["properties"]) == set(function["parameters"]["properties"])
        assert schema["parameters"].get("required", []) == function["parameters"]["required"]
    assert made.reset(seed=5)
    assert made.get_reward() == 0.0
    for action in made._episode.solution():
        value = json.loads(action)
        for call in value["tool_calls"]:
            getattr(made, call["name"])(**call["arguments"])
        if not value["tool_calls"]:
            made.reply(value["content"])
    assert made.get_reward() == 1.0
    assert "over" in made.reply("once more")
    assert made.get_reward() == 1.0


def test_trl_takes_the_export_as_an_environment_factory(
    exportables: dict[str, Exportable], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks of TRL's own trainer on such a class, without a model."""
    if importlib.util.find_spec("trl") is None:
        pytest.skip("trl is not installed; `pip install -e '.[bench]'` installs it")
    import inspect

    env = exportables["ferry"]
    module = package(env, "trl", folder, monkeypatch)
    kind = getattr(module, f"{env.name}Env")
    public = [n for n, _ in inspect.getmembers(kind, inspect.isfunction) if not n.startswith("_")]
    assert sorted(public) == ["act", "get_reward", "reset"]
    rows = module.dataset_rows(3, first_seed=4)
    assert [row["seed"] for row in rows] == [4, 5, 6]
    one = kind()
    assert isinstance(one.reset(**rows[0]), str)


@pytest.mark.parametrize("kind", ["source", "gymnasium"])
def test_the_same_export_again_is_there_already_and_an_edited_one_is_never_replaced(
    exportables: dict[str, Exportable], tmp_path: Path, kind: str
) -> None:
    env = exportables["beads"]
    made = save(tmp_path, env, kind)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert save(tmp_path, env, kind) == made
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    edited = next(path for path in before if path.suffix == ".py")
    edited.write_text("# mine\n")
    with pytest.raises(BadInput, match=f"{edited.name} is not what .* name another --out"):
        save(tmp_path, env, kind)
    assert edited.read_text() == "# mine\n"


def test_where_an_export_cannot_be_written_nothing_is_left(
    exportables: dict[str, Exportable], tmp_path: Path
) -> None:
    env = exportables["beads"]
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="cannot be written"):
        save(tmp_path / "file", env, "gymnasium")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_names_and_texts_of_a_hostile_program_stay_data(exportables: dict[str, Exportable]) -> None:
    env = exportables["parcels"]
    tool = json.loads(json.dumps(env.info.tools[0]))
    tool["function"]["name"] = "import"
    tool["function"]["description"] = 'x"""\n        raise SystemExit("out")\n        """\\'
    info = dataclasses.replace(
        env.info, class_name="Jsön_2Env", title='"""\nimport os\n\x1b[2J', tools=(tool,)
    )
    hostile = dataclasses.replace(env, info=info, hint="one\n## two\n")
    for kind in KINDS:
        for path, text in render(hostile, kind).items():
            if path.endswith(".py"):
                compile(text, path, "exec")
    assert hostile.slug.isidentifier()
    assert hostile.slug.isascii()
    assert "def import_(self" in render(hostile, "trl")[f"{hostile.slug}/__init__.py"]
    assert "\x1b" not in render(hostile, "openenv")["README.md"]


def with_tools(env: Exportable, *tools: tuple[str, dict[str, object]]) -> Exportable:
    """Return it as if its program had told these tools."""
    told = tuple(
        {
            "type": "function",
            "function": {
                "name": name,
                "description": "Do it.",
                "parameters": {"type": "object", "properties": properties, "required": []},
            },
        }
        for name, properties in tools
    )
    return dataclasses.replace(env, info=dataclasses.replace(env.info, tools=told))


CODE = "q=__import__('os').system('touch live'), w"


def test_a_parameter_that_is_code_is_refused_before_anything_is_written(
    exportables: dict[str, Exportable], tmp_path: Path
) -> None:
    for key in (CODE, 'w #"""; import os; """\n', "a b", "²"):
        hostile = with_tools(exportables["parcels"], ("ok", {key: {"type": "string"}}))
        assert schema.flaw(list(hostile.info.tools))
        with pytest.raises(BadInput, match="no name"):
            save(tmp_path, hostile, "trl")
    assert not list(tmp_path.iterdir())


def test_names_of_tools_that_collide_or_are_pythons_are_methods_of_their_own(
    exportables: dict[str, Exportable], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["a-b", "a_b", "_play", "_call", "__init__", "reply", "self", "class", "str", "reset"]
    text: dict[str, object] = {"type": "string"}
    keys: dict[str, object] = dict.fromkeys(["self", "class", "__x", "str", "größe"], text)
    env = with_tools(exportables["parcels"], *((name, keys) for name in names))
    assert schema.flaw(list(env.info.tools)) is None
    made = getattr(package(env, "trl", folder, monkeypatch), f"{env.name}Env")()
    called: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(made, "_call", lambda name, given: called.append((name, given)))
    methods = [
        "a_b",
        "a_b_",
        "play",
        "call",
        "init__",
        "reply_",
        "self",
        "class_",
        "str_",
        "reset_",
    ]
    for method in methods:
        getattr(made, method)(self_="1", class_="2", x="3", str="4", größe="5")
    assert [name for name, _ in called] == names
    assert all(list(given) == list(keys) for _, given in called)
    assert all(list(given.values()) == ["1", "2", "3", "4", "5"] for _, given in called)


def test_a_title_of_any_letters_is_plain_text_in_every_file(
    exportables: dict[str, Exportable],
) -> None:
    title = 'Roll the 🎲 "<script>alert(1)</script>" [x](http://a) \\ `c`\u2028\x7f'
    env = exportables["beads"]
    env = dataclasses.replace(env, info=dataclasses.replace(env.info, title=title), hint=title)
    for kind in ("gymnasium", "openenv", "trl", "verifiers"):
        files = render(env, kind)
        told = tomllib.loads(files["pyproject.toml"])["project"]["description"]
        assert told == 'Roll the 🎲 "<script>alert(1)</script>" [x](http://a) \\ `c`'
        assert "<script" not in files["README.md"]
        assert "[x](" not in files["README.md"]


def test_what_cannot_be_written_is_one_line(
    exportables: dict[str, Exportable], tmp_path: Path
) -> None:
    env = exportables["beads"]
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / ("x" * 300), tmp_path / "file" / "below", tmp_path / "file"):
        for kind in ("source", "openenv"):
            with pytest.raises(BadInput, match="cannot be written"):
                save(out, env, kind)
    long = dataclasses.replace(
        env, info=dataclasses.replace(env.info, class_name="S" + "a" * 400 + "Env")
    )
    assert save(tmp_path, long, "openenv").is_dir()


def test_another_projects_tool_class_is_exported_as_source_only(
    exportables: dict[str, Exportable],
) -> None:
    env = exportables["parcels"]
    other = dataclasses.replace(env, source="class DeskEnv(ToolUseBaseEnv): ...\n")
    assert render(other, "source")
    with pytest.raises(BadInput, match="--to source"):
        render(other, "verifiers")


OPENENV = """
import sys
from starlette.testclient import TestClient
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/.."]
from server.app import app
with TestClient(app) as client:
    assert client.get("/health").status_code == 200
    assert "text" in str(client.get("/schema").json())
    from episode import Episode
    episode = Episode()
    first = episode.reset(7)
    with client.websocket_connect("/ws") as wire:
        wire.send_json({"type": "reset", "data": {"seed": 7}})
        told = wire.receive_json()["data"]
        assert told["observation"]["text"] == first, told
        assert told["observation"]["instructions"] and not told["done"]
        for action in episode.solution():
            wire.send_json({"type": "step", "data": {"text": action}})
            told = wire.receive_json()["data"]
        assert told["done"] and told["reward"] == 1.0, told
import importlib, os
package = importlib.import_module(os.path.basename(sys.argv[1]))
assert any(name.endswith("Client") for name in package.__all__)
print("played")
"""
VERIFIERS = """
import asyncio, importlib, sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[1])
package = importlib.import_module(sys.argv[2])
import verifiers.v1 as vf
kinds = [getattr(package, name) for name in package.__all__]
environment = next(kind for kind in kinds if issubclass(kind, vf.Env))
taskset = next(kind for kind in kinds if issubclass(kind, vf.Taskset))
config = getattr(package, taskset.__name__.removesuffix("Taskset") + "Config")
tasks = list(taskset(config(num_tasks=2, first_seed=7)))
assert [task.data.info["seed"] for task in tasks] == [7, 8]
assert tasks[0].data.system_prompt
from importlib import import_module
episode = import_module(sys.argv[2] + ".episode").Episode()
assert episode.reset(7) == tasks[0].data.prompt
replies = list(episode.solution())

class Talk:
    # The part of an interaction that the environment uses; a model would be at the other end.
    def __init__(self):
        self.trace, self.heard = SimpleNamespace(info={}, rewards={}), []
        self.trace.record_reward = lambda name, value, weight: self.trace.rewards.update({name: value})
    async def __aenter__(self): return self
    async def __aexit__(self, *_): return None
    async def turn(self, text=None):
        self.heard.append(text)
        return SimpleNamespace(terminated=False, last_reply=replies.pop(0))

talk = Talk()
agents = SimpleNamespace(player=SimpleNamespace(interaction=lambda task: talk))
asyncio.run(environment.run(SimpleNamespace(), tasks[0], agents))
assert talk.trace.rewards == {"score": 1.0}, talk.trace.rewards
assert talk.heard[0] is None and all(talk.heard[1:])
print("played")
"""


def elsewhere(module: str, script: str, *arguments: str) -> str:
    """Run a script where a package is installed; skips where it is not."""
    known = subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True)
    if known.returncode:
        pytest.skip(
            f"{module} is not installed; SPADEWORK_EXPORT_PYTHON may name a Python that has it"
        )
    done = subprocess.run([PYTHON, "-c", script, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("name", SEEDS)
def test_openenv_serves_the_export(
    exportables: dict[str, Exportable], name: str, tmp_path: Path
) -> None:
    made = save(tmp_path, exportables[name], "openenv")
    assert elsewhere("openenv.core", OPENENV, str(made)).endswith("played\n")


@pytest.mark.parametrize("name", SEEDS)
def test_verifiers_runs_the_export(
    exportables: dict[str, Exportable], name: str, tmp_path: Path
) -> None:
    env = exportables[name]
    made = save(tmp_path, env, "verifiers")
    assert elsewhere("verifiers", VERIFIERS, str(made), env.slug).endswith("played\n")
