import time

import pytest

from envgen.designer import (
    Design,
    Unreadable,
    ask_hint,
    follow_up,
    read_design,
    read_hint,
    version_of,
)

CODE = "class CoinEnv:\n    pass\n"
HINT = "weigh in threes"


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{CODE}```\nhint: {HINT}",
        f"Here it is.\n\n```py\n{CODE}```\n\nHINT:  {HINT} \n",
        f"```\nnotes\n```\n```\n{CODE}\n```\nAnd now\nhint: weigh\n  in threes",
        f"```python3\n{CODE}```\nhint: {HINT}\n\nThis environment trains logic.",
        f"~~~~python\n{CODE}~~~~\nhint: {HINT}",
        f"```python\n{CODE}```\nhint: {HINT}\n```\nusage\n```",
        f"<think>\n```python\nclass AEnv: pass\n```\nhint: no\n</think>\n```python\n{CODE}```\nhint: {HINT}",
        f"so ... </think>\n\n```python\n{CODE}```\nhint: {HINT}",
    ],
)
def test_code_and_hint_are_read_out_of_a_completion(text: str) -> None:
    assert read_design(text, "end") == Design(CODE, HINT)


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        (f"{CODE}hint: {HINT}", "no fence"),
        (f"Sure, here is one.\n\n{CODE}\nhint: {HINT}", "no fence"),
        (f"```python\n{CODE}hint: {HINT}", "open fence"),
        (f"```python\n{CODE}\nhint: {HINT}\n\nThat is all.", "open fence"),
        (
            f"```python\nclass AEnv: pass\n```\nor\n```python\n{CODE}```\nhint: {HINT}",
            "several programs",
        ),
        (f"hint: {HINT}\n\n```python\n{CODE}```", "hint first"),
        (f"```python\n{CODE}```\n**Hint:** {HINT}", "hint decorated"),
        (f"```python\n{CODE}```\n### Hint: *{HINT}*", "hint decorated"),
        (f"hint: {HINT}\n\n{CODE}", "no fence, hint first"),
    ],
)
def test_what_departs_from_the_form_is_read_and_marked(text: str, repaired: str) -> None:
    assert read_design(text, "end") == Design(CODE, HINT, repaired)


def test_a_program_is_never_changed_by_reading_it() -> None:
    source = 'class CoinEnv:\n    """Say\n\n    ```` like this\n    """\n\n    x = "```"\n'
    for text in (f"```python\n{source}```\nhint: x", f"````\n{source}````\nhint: x"):
        design = read_design(text, "end")
        assert isinstance(design, Design)
        assert design.source == source


@pytest.mark.parametrize(
    ("text", "stop", "reason"),
    [
        (f"```python\n{CODE}```\nhint: x", "length", "cut_off"),
        (f"```python\n{CODE}```\n", "end", "no_hint"),
        (f"```python\n{CODE}```\nhint:\n", "end", "no_hint"),
        (CODE, "end", "no_hint"),
        ("```python\nx = 1\n```\nhint: x", "end", "no_code"),
        (f"{CODE}\n```python\nx = 1\n```\nhint: x", "end", "no_code"),
        (f"<think>\n```python\n{CODE}```\nhint: x", "end", "no_code"),
        ("I would write a class with reset and step.\nhint: x", "end", "no_code"),
        ("", "end", "no_code"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, stop: str, reason: str) -> None:
    design = read_design(text, stop)
    assert isinstance(design, Unreadable)
    assert design.reason == reason


def test_with_a_separate_hint_the_program_is_read_alone() -> None:
    assert read_design(f"```python\n{CODE}```", "end", "separate") == Design(CODE, "")
    assert read_design(CODE, "end", "separate") == Design(CODE, "", "no fence")


def test_a_hint_of_its_own_is_read_with_or_without_its_name() -> None:
    assert read_hint(f"<think>hm</think>hint: {HINT}\n", "end") == HINT
    assert read_hint(f"{HINT}\n", "end") == HINT
    for text, stop in ((HINT, "length"), ("", "end"), ("<think>hm", "end")):
        assert isinstance(read_hint(text, stop), Unreadable)


def test_a_follow_up_shows_the_message_and_asks_for_the_whole_answer_again() -> None:
    told = follow_up("solvable", "seed 3: solution() lost {x}\n\x1b[31m", "inline")
    assert "`solvable`" in told
    assert "seed 3: solution() lost {x}  [31m" in told
    assert "`hint:`" in told
    assert "hint" not in follow_up("solvable", "it lost", "separate")
    assert len(follow_up("solvable", "x" * 10_000, "inline")) < 3000
    assert CODE.strip() in ask_hint(CODE)
    assert version_of("hint") != version_of("repair")


@pytest.mark.parametrize("hostile", ["```\n", "hint:", "hint:\n", "class XEnv\n"])
def test_reading_takes_time_in_proportion_to_the_text(hostile: str) -> None:
    def seconds(times: int) -> float:
        text, taken = hostile * times, []
        for _ in range(3):
            began = time.process_time()
            read_design(text, "end")
            taken.append(time.process_time() - began)
        return min(taken)

    # A text of 8 times the length takes some 8 times as long; of quadratic work it would be 64.
    assert seconds(40_000) < 24 * seconds(5_000)
