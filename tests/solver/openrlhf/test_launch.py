"""The process that trains: asked, started, listened to, ended."""

import time
from pathlib import Path

import pytest

from sandbox import SandboxConfig
from solver.openrlhf import launch
from solver.openrlhf.config import ClusterConfig
from solver.openrlhf.launch import figures, launched, reason, require
from solver.openrlhf.probe import missing
from spadekit.errors import BadInput, OurFault

STEP = (
    "\x1b[36m(PPOTrainer pid=71)\x1b[0m INFO 11-29 23:00:01 ppo_trainer.py:520] ✨ Global step 3: "
    "{'policy_loss': -0.25, 'actor_grad_norm': 1.5e-03, 'kl': nan, 'timing/generation': 12.0, "
    "'role_designer': 0.5}"
)


def test_what_it_logged_of_a_step_is_read_whatever_stands_around_it() -> None:
    found = figures(f"noise\n{STEP}\nmore noise\n")
    assert list(found) == [3]
    assert found[3] == {
        "policy_loss": -0.25,
        "actor_grad_norm": 0.0015,
        "timing/generation": 12.0,
        "role_designer": 0.5,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "it said nothing"),
        ("starting\n\nstopped\n\n", "stopped"),
        (
            "\x1b[36m(RolloutRayActor pid=9)\x1b[0m sandbox.faults.SandboxFault: no nsjail\nbye\n",
            "sandbox.faults.SandboxFault: no nsjail",
        ),
        ("ValueError: first\nRuntimeError: second\nTraceback is over\n", "RuntimeError: second"),
    ],
)
def test_why_it_ended_is_the_last_line_that_says_what_was_raised(text: str, expected: str) -> None:
    assert reason(text) == expected


def test_an_interpreter_without_openrlhf_is_told_what_to_install() -> None:
    with pytest.raises(
        BadInput, match=r"OpenRLHF is not installed .*: pip install 'openrlhf\[vllm\]=="
    ) as told:
        require(ClusterConfig(), SandboxConfig())
    assert "\n" not in str(told.value) and "cluster.python" in str(told.value)
    assert missing("nsjail") in str(told.value)


def test_an_interpreter_that_is_none_is_refused_by_its_setting() -> None:
    with pytest.raises(BadInput, match=r"cluster.python = /nowhere/python cannot be asked"):
        require(ClusterConfig(python="/nowhere/python"), SandboxConfig())


def interpreter(folder: Path, answer: str) -> str:
    """An interpreter that answers every program alike."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(("gpus", "told"), [(0, "no GPU"), (4, "4 GPUs")])
def test_too_few_gpus_are_refused_with_how_many_are_asked_for(
    tmp_path: Path, gpus: int, told: str
) -> None:
    python = interpreter(tmp_path, f"""echo '{{"missing": "", "gpus": {gpus}}}'""")
    with pytest.raises(BadInput, match=rf"this machine has {told}, but \[cluster\] asks for 8"):
        require(ClusterConfig(python=python), SandboxConfig())


def test_as_many_gpus_as_are_asked_for_will_do(tmp_path: Path) -> None:
    python = interpreter(tmp_path, """echo '{"missing": "", "gpus": 4}'""")
    require(ClusterConfig(python=python, gpus=4, engines=4), SandboxConfig())


def test_its_log_is_read_as_it_grows_and_its_end_is_explained(tmp_path: Path) -> None:
    python = interpreter(tmp_path, f"echo \"{STEP}\"; echo 'ValueError: too bad'; exit 3")
    with launched(ClusterConfig(python=python), ["--x"], tmp_path) as process:
        assert process.figures(3, 20.0)["policy_loss"] == -0.25
        assert process.figures(4, 0.0) == {}
        while not process.ended:
            time.sleep(0.02)
        assert process.why() == f"ValueError: too bad (exit code 3; {tmp_path / 'log.txt'})"


def test_it_ends_with_the_block_and_so_does_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "_GENTLE_S", 0.5)
    child = tmp_path / "child"
    python = interpreter(tmp_path, f"trap '' TERM; sleep 600 & echo $! > {child}; wait; wait")
    with pytest.raises(KeyboardInterrupt), launched(ClusterConfig(python=python), [], tmp_path):
        while not child.exists() or not child.read_text().strip():
            time.sleep(0.02)
        raise KeyboardInterrupt
    number = int(child.read_text())
    for _ in range(100):
        if not Path(f"/proc/{number}").exists():
            break
        time.sleep(0.05)
    assert not Path(f"/proc/{number}").exists()


def test_one_that_cannot_be_started_is_our_fault(tmp_path: Path) -> None:
    with (
        pytest.raises(OurFault, match="/nowhere/python cannot be started"),
        launched(ClusterConfig(python="/nowhere/python"), [], tmp_path),
    ):
        pass


@pytest.mark.parametrize(("address", "told"), [("", "none"), ("10.0.0.1:6379", "10.0.0.1:6379")])
def test_it_joins_the_ray_that_the_settings_name_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, told: str
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "somebody:1234")
    monkeypatch.delenv("RAY_TMPDIR", raising=False)
    python = interpreter(tmp_path, 'echo "ray ${RAY_ADDRESS:-none} in ${RAY_TMPDIR:-shared}"')
    with launched(ClusterConfig(python=python, ray=address), [], tmp_path) as process:
        while not process.ended:
            time.sleep(0.02)
    words = (tmp_path / "log.txt").read_text().split()
    assert words[1] == told and (words[3] == "shared") == bool(address)
    assert address or not Path(words[3]).exists()
