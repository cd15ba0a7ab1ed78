import pytest

from envgen.designer import Design, Unreadable, read_design

CODE = "class CoinEnv:\n    pass\n"


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{CODE}```\nhint: weigh in threes",
        f"Here it is.\n\n```py\n{CODE}```\n\nHINT:  weigh in threes \n",
        f"```\nnotes\n```\n```\n{CODE}\n```\nAnd now\nhint: weigh\n  in threes",
    ],
)
def test_code_and_hint_are_read_out_of_a_completion(text: str) -> None:
    assert read_design(text, "end") == Design(CODE, "weigh in threes")


@pytest.mark.parametrize(
    ("text", "stop", "reason"),
    [
        (f"```python\n{CODE}```\nhint: x", "length", "cut_off"),
        (f"```python\n{CODE}```\n", "end", "no_hint"),
        (f"hint: x\n```python\n{CODE}```", "end", "no_hint"),
        (CODE + "hint: x", "end", "no_code"),
        ("```python\nx = 1\n```\nhint: x", "end", "no_code"),
        ("", "end", "no_code"),
        ("```python\nclass CoinEnv: pass", "end", "no_code"),
    ],
)
def test_what_cannot_be_read_says_why_and_is_not_repaired(
    text: str, stop: str, reason: str
) -> None:
    design = read_design(text, stop)
    assert isinstance(design, Unreadable)
    assert design.reason == reason
