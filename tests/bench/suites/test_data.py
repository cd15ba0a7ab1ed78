"""Data of the user's own, and of the Hub at one commit, in the formats in which it is published."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.suites import aime, data, gpqa, harness
from bench.suites.config import SuitesConfig
from bench.suites.jail import Jails, Unavailable
from bench.suites.suite import Mark
from sandbox import SandboxConfig
from spadekit.errors import BadInput
from tests.hub import Hub

PROBLEMS = [{"problem_idx": n, "problem": f"What is {n} + {n}?", "answer": 2 * n} for n in (1, 2)]
GPQA = [
    {
        "Record ID": f"rec{n}",
        "Question": f"Which one,\n{n}?",
        "Correct Answer": f"right {n}\n",
        **{f"Incorrect Answer {k}": f"wrong {n}{k}" for k in (1, 2, 3)},
        "High-level domain": "Physics",
    }
    for n in range(12)
]


def jails() -> Jails:
    return Jails(SandboxConfig(), 1)


def gpqa_file(folder: Path) -> Path:
    path = folder / "gpqa_diamond.csv"
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, GPQA[0])
        writer.writeheader()
        writer.writerows(GPQA)
    return path


def test_aime_is_read_from_parquet_and_lines_and_its_revision_is_its_bytes(tmp_path: Path) -> None:
    for name in ("parquet", "lines"):
        (tmp_path / name).mkdir()
    pq.write_table(pa.Table.from_pylist(PROBLEMS), tmp_path / "parquet" / "train-0.parquet")
    lines = "\n".join(json.dumps(one) for one in PROBLEMS)
    (tmp_path / "lines" / "aime.jsonl").write_text(lines + "\n")
    first = aime.load("aime_2025", str(tmp_path / "parquet"), tmp_path)
    second = aime.load("aime_2025", str(tmp_path / "lines" / "aime.jsonl"), tmp_path)
    assert [one.data for one in first.questions] == [("What is 1 + 1?", 2), ("What is 2 + 2?", 4)]
    assert first.questions == second.questions
    assert first.revision.startswith("sha256:") and first.revision != second.revision


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"problem": "p", "answer": 1000}', "row 1: the answer is no integer from 0 to 999"),
        ('{"problem": "p", "answer": "x+1"}', "row 1: the answer is no integer"),
        ('{"problem": "p"}', "row 1: no column answer or label"),
        ('{"answer": 1}', "row 1: no column problem or question or prompt"),
        ("[1]", "row 1 is no JSON object"),
        ("{", "cannot be read"),
        ("", "no problem in it"),
    ],
)
def test_a_bad_file_is_one_line_that_says_where(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "a.jsonl").write_text(line + "\n")
    with pytest.raises(BadInput) as told:
        aime.load("aime_2025", str(tmp_path), tmp_path)
    assert says in str(told.value) and "\n" not in str(told.value)


def test_what_is_not_there_is_unavailable_and_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="is not there; download"):
        aime.load("aime_2025", str(tmp_path / "none"), tmp_path)
    with pytest.raises(Unavailable, match="holds no file named like gpqa_diamond"):
        gpqa.load(str(tmp_path), tmp_path, 0)
    with pytest.raises(Unavailable, match=r"played by another model.*suites\.tau2"):
        harness.tau2(SuitesConfig(), tmp_path, jails())
    with pytest.raises(Unavailable, match=r"played by another model.*suites\.acebench"):
        harness.acebench(SuitesConfig(), tmp_path, jails())


def test_gpqa_shuffles_choices_by_the_seed_and_the_letter_follows_the_answer(
    tmp_path: Path,
) -> None:
    gpqa_file(tmp_path)
    suite = gpqa.load(str(tmp_path), tmp_path, 0)
    again, other = (gpqa.load(str(tmp_path), tmp_path, seed) for seed in (0, 1))
    assert suite.questions == again.questions != other.questions
    letters = set()
    for number, question in enumerate(suite.questions):
        text, choices, right = question.data
        assert text == f"Which one,\n{number}?"
        assert choices[gpqa.LETTERS.index(right)] == f"right {number}"
        letters.add(right)
    assert len(letters) > 2, "the right answer stands in one place"


LOADS = """
import json, sys
from pathlib import Path
from bench.suites import aime
from bench.suites.jail import Unavailable
for line in sys.stdin:
    try:
        suite = aime.load("aime_2026", line.strip(), Path(sys.argv[1]))
        print(json.dumps([suite.revision, len(suite.questions)]), flush=True)
    except Unavailable as why:
        print(json.dumps(str(why)), flush=True)
"""


def test_the_hub_is_read_at_the_commit_that_the_home_first_saw(tmp_path: Path) -> None:
    table = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(PROBLEMS), table)
    stored = {"data/train-0.parquet": table.getvalue().to_pybytes(), "run.py": b"raise SystemExit"}
    with Hub() as hub:
        repo = hub.data_set("tester/aime", stored)
        first = next(iter(reversed(repo.commits)))
        hub.data_set("tester/gated", stored).gated = True
        environment = {
            **os.environ,
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }
        with subprocess.Popen(
            [sys.executable, "-c", LOADS, str(tmp_path / "kept")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            cwd=Path(__file__).parents[3],
        ) as process:
            assert process.stdin is not None and process.stdout is not None

            def loaded(uri: str) -> Any:
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write(uri + "\n")
                process.stdin.flush()
                return json.loads(process.stdout.readline())

            assert loaded("hf://tester/aime") == [f"hf://tester/aime@{first}", 2]
            repo.commit({"data/train-0.parquet": b"broken"}, "pushed afterwards")
            assert loaded("hf://tester/aime") == [f"hf://tester/aime@{first}", 2]
            assert "no such data set" in loaded("hf://tester/none")
            assert "gated; ask for access and set HF_TOKEN" in loaded("hf://tester/gated")
            process.stdin.close()
        assert not any("run.py" in path for _, path in hub.log), "code was downloaded"


def tau2_results(rewards: dict[str, list[float | None]], domain: str = "retail") -> dict[str, Any]:
    return {
        "timestamp": "2026-11-30",
        "info": {
            "git_commit": "a2c0247a2c0247",
            "num_trials": 2,
            "environment_info": {"domain_name": domain, "policy": "Be kind."},
            "agent_info": {"implementation": "llm_agent", "llm": "openai/mine"},
            "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1"},
        },
        "tasks": [],
        "simulations": [
            {
                "id": f"{task}-{trial}",
                "task_id": task,
                "trial": trial,
                "reward_info": None if reward is None else {"reward": reward, "db_check": None},
            }
            for task, trials in rewards.items()
            for trial, reward in enumerate(trials)
        ],
    }


async def test_results_of_tau2_are_read_by_task_and_lost_simulations_are_counted(
    tmp_path: Path,
) -> None:
    (tmp_path / "retail.json").write_text(
        json.dumps(tau2_results({"0": [1.0, 0.0], "1": [0.0, None]}))
    )
    (tmp_path / "airline.json").write_text(json.dumps(tau2_results({"0": [1.0]}, "airline")))
    suite = harness.tau2(SuitesConfig(tau2=str(tmp_path)), tmp_path, jails())
    marks = {one.id: await suite.ask(one, None) for one in suite.questions}  # type: ignore[arg-type]
    lost = "1 simulations of retail without a mark"
    assert marks == {
        "airline:0": Mark(1.0),
        "retail:0": Mark(0.5, lost),
        "retail:1": Mark(0.0, lost),
    }
    assert suite.revision == "tau2 a2c0247a2c02, agent openai/mine, user gpt-4.1"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{}", "no results of `tau2 run`"),
        (json.dumps(tau2_results({"0": [2.0]})), "a reward of 2.0"),
        (json.dumps(tau2_results({"0": [None]})), "no marked task"),
    ],
)
def test_other_files_are_no_results_of_tau2(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(BadInput, match=says):
        harness.tau2(SuitesConfig(tau2=str(tmp_path)), tmp_path, jails())


def test_scores_of_acebench_are_read_and_have_to_add_up(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    lines = [
        {
            "end_to_end_accuracy": 0.667,
            "process_accuracy": 0.8,
            "correct_count": 2,
            "total_count": 3,
        },
        {"id": 1, "valid": False, "error": ["x"], "error_type": "y"},
    ]
    path = folder / "data_agent_multi_turn_score.json"
    path.write_text("\n".join(map(json.dumps, lines)))
    config = SuitesConfig(acebench=str(tmp_path))
    suite = harness.acebench(config, tmp_path, jails())
    assert [one.data.score for one in suite.questions] == [1.0, 0.0, 1.0]
    assert suite.revision.startswith("mine, sha256:")
    path.write_text(json.dumps(lines[0]))
    with pytest.raises(BadInput, match="1 failures are counted and 0 listed"):
        harness.acebench(config, tmp_path, jails())


def test_json_and_parquet_that_are_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "a.json").write_text("3")
    for name in ("a.parquet", "a.json"):
        with pytest.raises(BadInput, match="cannot be read"):
            list(data.rows(tmp_path / name))
