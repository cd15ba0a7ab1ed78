"""The README is followed from top to bottom, in one home, with smaller rounds."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SMALLER = {
    "generate": ("producer.designs=4", "producer.designs_per_brief=2", "probe.plays=2"),
    "loop": (
        "producer.designs=4",
        "producer.designs_per_brief=2",
        "probe.plays=2",
        "train.groups=1",
        "train.group=2",
    ),
    "train": ("train.groups=1", "train.group=2"),
    "report": ("heldout.plays=1", "heldout.greedy_plays=1"),
}
"""What a command is given besides; everything else is run as it stands."""


def fences(language: str) -> list[str]:
    """The texts of all code fences of a language ("" none is named), in order."""
    text = (ROOT / "README.md").read_text()
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [body for name, body in found if name == language]


def lines() -> list[str]:
    """The lines of all code fences that name no language, in order."""
    return [line for fence in fences("") for line in fence.splitlines()]


def run(home: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    words = [word.replace("spadework-data", str(home)) for word in words]
    command = [sys.executable, "-m", "spadework", *words, "--home", str(home)]
    for setting in SMALLER.get(words[0], ()):
        command += ["--set", setting]
    if words[0] == "report":
        few = home / "few.jsonl"
        whole = (ROOT / "bench" / "heldout" / "embedded.jsonl").read_text()
        few.write_text("".join(whole.splitlines(keepends=True)[:8]))
        command += ["--set", f"heldout.path={few}"]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, stdin=subprocess.DEVNULL, timeout=300
    )


def test_every_spadework_command_of_the_readme_works_in_order(tmp_path: Path) -> None:
    # What `make loop` would have left: a first round of the same run.
    assert run(tmp_path, ["loop", "--rounds", "1"]).returncode == 0
    identity = ""
    commands = [shlex.split(line)[1:] for line in lines() if line.startswith("spadework ")]
    assert len(commands) > 10
    for words in commands:
        if "ENV" in words and not identity:
            found = run(tmp_path, ["search", "a puzzle", "--json"])
            identity = json.loads(found.stdout)[0]["id"]
        done = run(tmp_path, [identity if word == "ENV" else word for word in words])
        # A search may honestly find nothing in so small a memory.
        allowed = (0, 1) if words[0] == "search" else (0,)
        assert done.returncode in allowed, (words, done.stderr)
    for snippet in fences("python"):
        if "class " not in snippet:
            code = snippet.replace("spadework-data", str(tmp_path))
            ran = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT
            )
            assert ran.returncode == 0, (snippet, ran.stderr)


def test_the_environments_of_the_readme_certify(tmp_path: Path) -> None:
    sources = [fence for fence in fences("python") if "class " in fence]
    assert len(sources) == 2
    for source in sources:
        path = tmp_path / "example.py"
        path.write_text(source)
        done = run(tmp_path, ["check", str(path)])
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_make_target_of_the_readme_exists() -> None:
    targets = {shlex.split(line)[1] for line in lines() if line.startswith("make ")}
    assert {"loop", "search", "test", "lint"} <= targets
    for target in targets:
        done = subprocess.run(
            ["make", "-n", target], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert done.returncode == 0, done.stderr
