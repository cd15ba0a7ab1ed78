import json
from pathlib import Path

import pytest

from envgen.publish.benchmarks import _bfcl, _reasoning_gym, _rlve_gym, read_lists, text_of
from envgen.publish.overlap import Asked, Questions, told_by
from spadekit.errors import BadInput

LONG = (
    "Natalia sold clips to forty eight of her friends in April and then she sold half as many "
    "clips in May; how many clips did Natalia sell altogether in April and May?"
)


def test_a_program_that_asks_a_known_question_holds_it_whatever_stands_around_it() -> None:
    questions = Questions([Asked("gsm:1", LONG), Asked("gsm:2", "Name the capital of that land")])
    inside = f'class AEnv:\n    """Sums."""\n    text = "{LONG.upper()}"\n' + "x = 1\n" * 500
    held = questions.held(inside, 0.6)
    assert held is not None
    assert (held.question, held.share) == ("gsm:1", 1.0)
    words = LONG.split()
    assert questions.held(" ".join(words[: len(words) // 2]), 0.6) is None
    changed = LONG.replace("forty eight", "fifty").replace("April", "June")
    assert questions.held(changed, 0.6) is None
    short = questions.held("Please name the capital of that land, said he", 0.6)
    assert short is not None
    assert short.question == "gsm:2"


def test_texts_are_taken_as_they_are_said() -> None:
    lines = LONG.replace(" ", "\n")
    questions = Questions([Asked("a", LONG)])
    transcript = json.dumps([{"role": "user", "content": lines}])
    for told in (
        told_by(f"TEXT = {lines!r}\n", "", ""),
        told_by("", lines, ""),
        told_by("no ( program", "", transcript),
    ):
        assert questions.held(told, 1.0) is not None
    assert questions.held(told_by("no ( program", "think", "[]"), 0.1) is None


def test_of_questions_that_are_drawn_anew_the_form_is_looked_for() -> None:
    form = (
        "Find the greatest common divisor (GCD) of these numbers: {}. Give only the divisor as your "
        "final answer, without a word besides."
    )
    asked = Asked("gcd", form.format("12 and 18"), (form.format("35, 49"), form.format("8, 9")))
    questions = Questions([asked, Asked("all", "Say what is 1", ("Say what is 2",))])
    assert len(questions) == 1
    held = questions.held(form.format("1001 and 77"), 0.9)
    assert held is not None
    assert held.question == "gcd"


def test_questions_of_a_few_words_are_not_looked_for() -> None:
    assert len(Questions([Asked("a", "What is 2 + 2"), Asked("b", "")])) == 0


def test_a_file_of_ones_own_and_missing_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whatever is installed here.
    monkeypatch.setattr("envgen.publish.benchmarks.find_spec", lambda _: None)
    path = tmp_path / "mine.jsonl"
    chat = [{"role": "user", "content": "Book a table for five people this evening please"}]
    path.write_text(json.dumps({"question": LONG}) + "\n\n" + json.dumps({"prompt": chat}) + "\n")
    with path.open("a") as lines:
        lines.write(json.dumps({"question": "What is 1 + 1?"}) + "\n")
    questions, lists = read_lists([str(path), "bfcl"])
    assert [(one.name, one.questions, one.sought, one.note) for one in lists] == [
        ("mine.jsonl", 3, 2, ""),
        ("bfcl", 0, 0, "not compared: not installed"),
    ]
    held = questions.held("book a table for five people this evening, please", 0.6)
    assert held is not None
    assert held.question == "mine.jsonl:3"
    assert text_of({"question": [[{"role": "user", "content": "a"}], [{"content": "b"}]]}) == "a b"


def test_data_files_of_a_package_are_read_as_data(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    turns = [[{"role": "user", "content": "Move the file to the folder of old reports"}], []]
    rows = [json.dumps({"id": "1", "question": turns}), "no row", json.dumps({"id": "2"})]
    (tmp_path / "data" / "BFCL_v4_multi_turn_base.json").write_text("\n".join(rows))
    (tmp_path / "__init__.py").write_text("raise SystemExit(7)")
    questions = Questions(_bfcl([tmp_path]))
    assert len(questions) == 1
    held = questions.held("move the file to the folder of old reports", 0.9)
    assert held is not None
    assert held.question == "BFCL_v4_multi_turn_base:1"


def test_templates_of_a_package_are_read_out_of_its_sources(tmp_path: Path) -> None:
    task = tmp_path / "environments" / "coprime_pairs"
    task.mkdir(parents=True)
    (tmp_path / "__init__.py").write_text("raise SystemExit(7)")
    (task / "environment.py").write_text(
        "class Pairs(Base) :\n    prompt_template = \\\n"
        'r"""How many pairs (x, y) satisfy gcd(x, y) = 1, where 1 <= x <= {N} and 1 <= y <= {M}?\n\n'
        '**Output Format:** Your final answer should be a single integer, the number of pairs."""\n'
        "    prompt_template = made_up()\n"
    )
    (asked,) = _rlve_gym([tmp_path])
    assert asked.name == "rlve-gym:coprime_pairs"
    questions = Questions([asked])
    said = asked.text.replace("one", "7041").replace("final answer", "last word")
    assert "{N}" not in said
    held = questions.held(asked.text.replace("one", "7041"), 0.99)
    assert held is not None
    assert questions.held(said, 0.99) is None


def test_a_package_that_is_asked_sees_no_token_and_nothing_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("package/reasoning_gym", "working"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "package/reasoning_gym/factory.py").write_text("DATASETS = ('sums',)\n")
    (tmp_path / "package/reasoning_gym/__init__.py").write_text(
        "import os\n"
        "def create_dataset(task, size, seed):\n"
        '    said = f\'{task}: {os.environ.get("HF_TOKEN")} {os.environ["PYTHONHASHSEED"]}\'\n'
        "    return [{'question': said}] * size\n"
    )
    (tmp_path / "working/warnings.py").write_text("raise SystemExit(7)\n")
    (tmp_path / "working/reasoning_gym.py").write_text("raise SystemExit(7)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "package"))
    monkeypatch.setenv("HF_TOKEN", "hf_write")
    monkeypatch.chdir(tmp_path / "working")
    (asked,) = _reasoning_gym([])
    assert asked == Asked("reasoning-gym:sums", "sums: None 0", ("sums: None 0",) * 2)


@pytest.mark.parametrize(
    ("line", "says"),
    [("{", "line 1 is no JSON object"), ('{"a": 1}', "no text under"), ("[1]", "no JSON object")],
)
def test_a_list_that_cannot_be_used_is_one_line(line: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(BadInput, match=says):
        read_lists([str(path)])
    with pytest.raises(BadInput, match=r"cannot be read .*reasoning-gym, rlve-gym, bfcl"):
        read_lists([str(tmp_path / "none.jsonl")])
