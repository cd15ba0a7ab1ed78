"""Uploads against a Hub on the loopback interface; in a process of its own, because the client reads
where the Hub is when it is imported."""

import os
import subprocess
import sys
from pathlib import Path

from envgen.corpus import CorpusConfig
from memory import Store

from .conftest import make

ROOT = Path(__file__).parents[3]


def test_uploads_through_the_real_client(
    store: Store, corpus: CorpusConfig, home: Path, tmp_path: Path
) -> None:
    for name, numbers in (("one", [1]), ("two", [1, 2])):
        make(tmp_path / name, store, corpus, numbers=numbers)
    quiet = {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        **quiet,
        "HF_HOME": str(tmp_path / "cache"),
        "RELEASES": str(tmp_path),
        "PUBLISHER": str(home),
    }
    environment.pop("HF_TOKEN", None)
    cases = Path(__file__).with_name("hub_cases.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(cases), "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout
