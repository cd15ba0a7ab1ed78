"""Lines of journals: whoever goes on from them gets whole ones, or one line that says which is not."""

import json
from pathlib import Path
from typing import Any

import pytest

from envgen.entries import of_import, of_measurement, of_round
from spadekit.errors import BadInput
from spadekit.files import Check, Journal

SPENT = [1, 2.0, 1.0, 0, 0, None]
BRIEF = {"id": "000001-000", "setting": "game", "skill": "counting", "level": 2, "like": []}
PLAN = {
    "kind": "plan",
    "policy_version": 0,
    "settings": "ab",
    "briefs": [{"brief": BRIEF, "messages": [["user", "Write."]]}],
    "drawn": {"game": 1},
    "spent": SPENT,
}
DESIGN = {
    "kind": "design",
    "index": 0,
    "ids": [1],
    "logprobs": [0.0],
    "stop": "end",
    "spent": SPENT,
}
BEGUN = {"kind": "plan", "settings": "ab", "version": 1, "updated": 3}


def journal(path: Path, entries: list[Any], check: Check) -> Journal:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    opened = Journal(path, check)
    opened.close()
    return opened


def test_whole_lines_are_read(tmp_path: Path) -> None:
    plays = {"kind": "plays", "index": 0, "plays": []}
    assert journal(tmp_path / "round", [PLAN, DESIGN, plays | {"spent": SPENT}], of_round).entries
    assert journal(tmp_path / "measurement", [BEGUN, plays], of_measurement).entries


@pytest.mark.parametrize(
    ("entries", "check", "number"),
    [
        ([{}], of_round, 1),
        ([DESIGN], of_round, 1),
        ([PLAN, {}], of_round, 2),
        ([PLAN, DESIGN | {"ids": ["one"]}], of_round, 2),
        ([PLAN, DESIGN | {"spent": [1] * 7}], of_round, 2),
        ([PLAN, DESIGN | {"kind": "wish"}], of_round, 2),
        ([PLAN, {"kind": "plays", "index": 0, "plays": [{}], "spent": SPENT}], of_round, 2),
        (
            [PLAN, {"kind": "certificate", "index": 0, "certificate": "{}", "spent": SPENT}],
            of_round,
            2,
        ),
        ([{}], of_measurement, 1),
        ([BEGUN, {}], of_measurement, 2),
        ([{}], of_import, 1),
        ([{"id": "ab", "certificate": "[]"}], of_import, 1),
        ([[]], of_import, 1),
    ],
)
def test_a_line_that_nothing_could_go_on_from_is_named(
    tmp_path: Path, entries: list[Any], check: Check, number: int
) -> None:
    with pytest.raises(BadInput, match=f"journal: line {number} is damaged .*; move the file away"):
        journal(tmp_path / "journal", entries, check)
