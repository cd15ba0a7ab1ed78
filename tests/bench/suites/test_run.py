"""Asking a real engine: what is kept, what is asked again, what is printed, what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.suites.bfcl import Bfcl
from bench.suites.command import Wanted, run
from bench.suites.config import SuitesConfig
from bench.suites.jail import Jails, Program
from bench.suites.run import chosen
from bench.suites.store import Marks, Protocol, Result
from bench.suites.suite import Mark, Question
from bench.suites.table import EIGHT, average_of
from bench.suites.talk import PolicyTalk
from sandbox import SandboxConfig
from solver.chat import Spoken, UnreadableTools
from solver.config import PolicyConfig, SolverConfig
from solver.policy import Completion, Sampling
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.report import Report
from spadekit.settings import load

SCHEMA = {
    "sandbox": SandboxConfig,
    "policy": PolicyConfig,
    "solver": SolverConfig,
    "suites": SuitesConfig,
}
PROTOCOL = Protocol("s", "r", "p", "default", 1.0, 1.0, 0, 8, 512, 0, "nsjail")


def session(home: Path, model: Path, *overrides: str) -> Session:
    recipe = home / "recipe.toml"
    recipe.write_text(
        f'[policy]\nmodel = "{model}"\n[solver]\nmax_tokens = 4\ncontext = 400\n'
        f'[suites]\naime_2025 = "{home / "aime.jsonl"}"\nsamples = 2\n'
    )
    problems = [json.dumps({"problem": f"{n}?", "answer": n}) for n in range(3)]
    (home / "aime.jsonl").write_text("\n".join(problems) + "\n")
    return Session(Report(as_json=True), load(recipe, overrides, SCHEMA), home / "home")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_was_asked_is_kept_and_not_asked_again(
    tmp_path: Path, model_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = Wanted(only=("aime_2025",))
    run(session(tmp_path, model_folder, "suites.limit=2"), only)
    [journal] = (tmp_path / "home" / "suites" / "aime_2025").glob("*.jsonl")
    first = lines(journal)
    assert [sorted(one) for one in first[:1]] == [["protocol"]]
    assert len(first) == 1 + 2 * 2
    assert all(one["score"] == 0.0 and "no answer" in one["note"] for one in first[1:])
    assert all(len(one["replies"]) == 1 for one in first[1:])
    [found] = json.loads(capsys.readouterr().out)["results"]
    assert found["estimate"] == {"mean": 0.0, "low": 0.0, "high": 0.0, "clusters": 2, "n": 4}
    assert (found["of"], found["protocol"]["revision"][:7]) == (3, "sha256:")
    assert found["machine"]["cores"] >= 1

    # Killed in the middle of a line: the rest is asked, what is whole is kept.
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-9])
    run(session(tmp_path, model_folder), only)
    again = lines(journal)
    assert again[: len(first) - 1] == first[:-1]
    assert len(again) == 1 + 3 * 2
    assert len({(one["question"], one["sample"]) for one in again[1:]}) == 6
    # The same question and sample get the same reply from the same seed.
    asked = {(one["question"], one["sample"]): one["replies"] for one in again[1:]}
    assert asked[first[-1]["question"], first[-1]["sample"]] == first[-1]["replies"]
    stored = json.loads(journal.with_suffix(".json").read_text())
    assert stored["estimate"]["n"] == 6 and stored["path"] == journal.name

    # Another seed is another measurement, in a file of its own.
    run(session(tmp_path, model_folder, "suites.seed=1", "suites.limit=1"), only)
    assert len(list(journal.parent.glob("*.jsonl"))) == 2


def test_a_proof_asks_nobody(
    tmp_path: Path, model_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(session(tmp_path, model_folder), Wanted(only=("aime_2025",), proof=True))
    told = json.loads(capsys.readouterr().out)
    sound = {"gold": 1.0, "silence": 0.0, "questions": 3, "sound": True}
    assert told["proofs"] == {"aime_2025": sound} and told["results"] == []
    assert not (tmp_path / "home" / "policy").exists()


@pytest.mark.parametrize(
    ("wanted", "overrides", "says"),
    [
        (Wanted(only=("aime_2024",)), (), "no suite 'aime_2024'; there are aime_2025"),
        (Wanted(only=("tau2",)), (), r"tau2 cannot be run: its user is played by another model"),
        (Wanted(version=1, model="x"), (), "exclude each other"),
        (Wanted(only=("aime_2025",), version=7), (), "policy version 7 is not in"),
        (Wanted(only=("aime_2025",), model="none"), (), "no model there"),
        (
            Wanted(only=("bfcl_live",)),
            ('suites.bfcl="none"',),
            r"bfcl_live cannot be run: none holds no bfcl_eval/data",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(
    tmp_path: Path, model_folder: Path, wanted: Wanted, overrides: tuple[str, ...], says: str
) -> None:
    with pytest.raises(BadInput, match=says) as told:
        run(session(tmp_path, model_folder, *overrides), wanted)
    assert "\n" not in str(told.value)
    assert not list((tmp_path / "home").rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("suites.samples=0", "samples must be at least 1"),
        ("suites.limit=-1", "limit must not be negative"),
        ("suites.top_p=0.0", "top_p"),
        ("suites.temperature=-1.0", "temperature"),
        ('suites.aime_2025=""', "aime_2025 is empty"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    tmp_path: Path, model_folder: Path, override: str, says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        session(tmp_path, model_folder, override)


def test_a_part_of_the_questions_is_a_fair_one_and_grows() -> None:
    questions = [Question(str(n), "rare" if n % 10 == 0 else "often") for n in range(40)]
    for limit in range(1, 41):
        part = chosen("s", questions, limit, 0)
        assert len(part) == limit == len({one.id for one in part})
        assert part == chosen("s", list(reversed(questions)), 40, 0)[:limit]
    assert [one.category for one in chosen("s", questions, 8, 0)].count("rare") == 4
    assert chosen("s", questions, 8, 0) != chosen("s", questions, 8, 1)
    assert len(chosen("s", questions, 0, 0)) == 40


def test_marks_are_clustered_by_question_and_told_by_category(tmp_path: Path) -> None:
    marks = Marks(tmp_path, PROTOCOL)
    easy, hard = Question("a", "easy"), Question("b", "hard")
    for sample, score in enumerate((1.0, 1.0, 0.0, 0.0)):
        marks.add(easy, sample, Mark(score), ["x"])
    marks.add(hard, 0, Mark(0.0, "no room; no answer"), [])
    result = marks.result("reasoning", [easy, hard], 4, 9)
    marks.close()
    assert (result.estimate.mean, result.estimate.clusters, result.estimate.n) == (0.25, 2, 5)
    assert (result.estimate.low, result.estimate.high) == (0.0, 1.0), "ends where marks do"
    assert result.categories["easy"].mean == 0.5 and result.categories["hard"].mean == 0.0
    assert result.notes == {"no room": 1, "no answer": 1}
    first = Marks(tmp_path, PROTOCOL)
    assert first.has() == {("a", n) for n in range(4)} | {("b", 0)}
    assert first.result("reasoning", [easy], 2, 9).estimate.mean == 1.0
    first.close()
    path = first.path
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(BadInput, match="of another protocol"):
        Marks(tmp_path, PROTOCOL)


def test_a_damaged_line_of_marks_is_told_by_its_number(tmp_path: Path) -> None:
    marks = Marks(tmp_path, PROTOCOL)
    marks.add(Question("a", "easy"), 0, Mark(1.0), ["x"])
    marks.close()
    with marks.path.open("a") as file:
        file.write("{}\n")
    with pytest.raises(BadInput, match=r"line 3 is damaged \(without 'question'\)"):
        Marks(tmp_path, PROTOCOL)


def test_the_average_of_eight_needs_all_questions_of_all_eight(tmp_path: Path) -> None:
    def result(name: str, of: int) -> Result:
        marks = Marks(tmp_path, Protocol(**{**vars(PROTOCOL), "suite": name}))
        if not marks.has():
            marks.add(Question("a", "c"), 0, Mark(1.0 if name == EIGHT[0] else 0.0), [])
        found = marks.result("reasoning", [Question("a", "c")], 1, of)
        marks.close()
        return found

    assert len(EIGHT) == 8
    assert average_of([result(name, 1) for name in EIGHT]) == 0.125
    assert average_of([result(name, 1) for name in EIGHT[1:]]) is None
    assert average_of([result(name, 1 + (name == EIGHT[3])) for name in EIGHT]) is None


class Parrot:
    """A policy whose prompts are characters and that says what it was told to."""

    text_only, separate, opened, dialect = True, "", False, "hermes"
    version, forward_seconds, context = 0, 0.0, 60

    def __init__(self, *replies: str) -> None:
        self.replies, self.asked = list(replies), list[tuple[int, Sampling]]()
        self.chat = self

    def start(self, messages: Any, tools: Any = ()) -> list[int]:
        return [ord(char) for one in messages for char in one.content]

    def decode(self, ids: Any) -> str:
        return "".join(map(chr, ids))

    async def complete(self, prompt_ids: Any, sampling: Sampling) -> Completion:
        self.asked.append((len(prompt_ids), sampling))
        text = self.replies.pop(0)
        stop = "length" if len(text) >= sampling.max_tokens else "end"
        return Completion(tuple(map(ord, text)), (), stop, 0)  # type: ignore[arg-type]


async def test_a_conversation_leaves_reasoning_out_and_room_for_the_reply() -> None:
    parrot = Parrot("<think>hm</think>4", "<think>endless", "x" * 10)
    talk = PolicyTalk(parrot, Sampling(1.0, 30, 5), 100)  # type: ignore[arg-type]
    assert await talk.say([Spoken("user", "2 + 2?")]) == "4"
    assert await talk.say([Spoken("user", "?")]) == ""
    assert await talk.say([Spoken("user", "?" * 11)]) == "x" * 10
    assert await talk.say([Spoken("user", "?")]) == ""
    assert talk.replies == ["<think>hm</think>4", "<think>endless", "x" * 10]
    assert talk.notes == ["cut", "no room"]
    assert [one for one, _ in parrot.asked] == [6, 25, 50]
    assert [one.max_tokens for _, one in parrot.asked] == [30, 30, 10]
    assert len({one.seed for _, one in parrot.asked}) == 3


NO_TOOL_FITS = {
    "question": [[{"role": "user", "content": "How is the weather?"}]],
    "function": [
        {
            "name": "add",
            "description": "Add.",
            "parameters": {"type": "dict", "properties": {}, "required": []},
        }
    ],
}


class Toolless(Parrot):
    """A policy whose chat template cannot show tools."""

    def start(self, messages: Any, tools: Any = ()) -> list[int]:
        raise UnreadableTools


@pytest.mark.parametrize(
    ("parrot", "context", "score"),
    [
        (Parrot("None of these helps."), 100, 1.0),
        (Parrot("<think>so</think>None helps."), 100, 1.0),
        (Parrot(), 10, 0.0),
        (Parrot("<think>endless"), 100, 0.0),
        (Toolless(), 100, 0.0),
    ],
)
async def test_where_no_tool_fits_only_silence_that_was_chosen_wins(
    parrot: Parrot, context: int, score: float, tmp_path: Path
) -> None:
    question = Question("irrelevance_0", "irrelevance", (NO_TOOL_FITS, []))
    talk = PolicyTalk(parrot, Sampling(1.0, 40, 0), context)  # type: ignore[arg-type]
    async with Jails(SandboxConfig(), 1) as jails:
        suite = Bfcl("bfcl_relevance", "r", (question,), tmp_path, jails, Program("bfcl.py"))
        assert (await suite.ask(question, talk)).score == score
