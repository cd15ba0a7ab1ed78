"""``spadework train`` where there is nothing to train."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import spadework
from memory import Store
from solver.versions import PolicyInfo, Versions


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Three shards and as many versions after the first; one was a second step on shard 1."""
    with Store.open(tmp_path / "store", create=True) as store:
        for shard in (1, 2, 3):
            store.publish(shard, [], [], [], [], meta={})
    versions = Versions(tmp_path / "policy")
    for number, taught_on in enumerate((None, 1, 1, 3)):
        # Without a parent nothing is compared: these hold no weights.
        versions.publish(PolicyInfo(number, None, number, taught_on, "", {}, {}), lambda _: None)
    return tmp_path


def test_a_dry_run_with_nothing_to_do_says_what_was_trained_by_which_version(home: Path) -> None:
    command = ["train", "--dry-run", "--home", str(home)]
    told = CliRunner().invoke(spadework.app, command)
    assert told.exit_code == 0
    assert "trained already" in told.stdout
    assert "spadework generate" in told.stderr
    told = CliRunner().invoke(spadework.app, [*command, "--json"])
    assert json.loads(told.stdout) == {
        "trained": [
            {"shard": 1, "version": 1},
            {"shard": 1, "version": 2},
            {"shard": 3, "version": 3},
        ]
    }
