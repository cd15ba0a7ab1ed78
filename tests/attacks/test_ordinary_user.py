"""The same jail for an ordinary user: what reaches for the host finds nothing there either.

The whole suite may be run by an ordinary user; here root makes one for the attacks that matter most.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import sandbox
from sandbox import interpreter, nsjail

FOLDER = Path(__file__).parent / "environments"
SCRIPT = """
import asyncio, json, os, sys
from sandbox import EnvironmentFault, Sandbox, SandboxConfig
async def main():
    found = {"uid": os.getuid()}
    async with Sandbox(SandboxConfig(step_s=2.0, memory_mb=64)) as sandbox:
        for name, source in json.load(sys.stdin).items():
            try:
                async with await sandbox.open(source) as jail, await jail.episode(0) as episode:
                    found[name] = episode.observation[0].content
                    await episode.step("go")
            except EnvironmentFault as fault:
                found[name] = f"{fault.stage}: {fault.reason}"
    print(json.dumps(found))
asyncio.run(main())
"""
BOUND = {
    "resources_fork_bomb": "nothing",
    "resources_thread_bomb": "nothing",
    "resources_descriptors": "nothing",
    "resources_mapping": "nothing",
    "resources_memory": "step: memory",
    "resources_ignore_signals": "step: timeout",
    "persistence_files": "nothing",
}


def test_an_ordinary_user_is_as_safe_as_root(tmp_path: Path) -> None:
    here = Path(sandbox.__file__).parents[1]
    if not interpreter.readable(nsjail.find(), True) or not interpreter.readable(here, True):
        pytest.fail("this checkout lies in a private folder; test it in one that others may read")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    names = [*BOUND, *(path.stem for path in sorted(FOLDER.glob("reach_*.py")))]
    names.remove("reach_old_interrupt")  # it ends as the kernel likes; the suite plays it
    sources = {
        name: (FOLDER / f"{name}.py").read_text().replace("@SECRET@", str(secret)) for name in names
    }
    root = os.geteuid() == 0
    other: dict[str, Any] = {"user": 12345, "group": 12345, "extra_groups": []} if root else {}
    done = subprocess.run(
        [interpreter.choose("").executable, "-B", "-c", SCRIPT],
        **other,
        input=json.dumps(sources),
        env={"PYTHONPATH": f"{here}:{nsjail.find().parents[2]}", "PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("uid") == (12345 if root else os.geteuid())
    assert found == {name: BOUND.get(name, "nothing") for name in names}
