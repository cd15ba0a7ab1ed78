"""``spadework template``: what is found out about a model folder, and its exit codes."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import spadework
from solver.chat import Chat
from solver.config import PolicyConfig
from solver.versions import Versions
from spadekit.errors import BadInput
from tests.solver.families import make_tokenizer, template

FORGETFUL = template("chatml").replace("in messages %}", "in messages[-3:] %}")


@pytest.mark.parametrize(
    ("family", "told"),
    [
        ("qwen3", {"conversations": "every turn a sequence of its own", "reasoning": "if any"}),
        ("r1", {"reasoning": "begun by the prompt", "tool calls": "told in a system message"}),
        ("llama3", {"conversations": "appended", "tool calls": "JSON alone, the template shows"}),
        ("chatml", {"conversations": "appended", "a reply ends with": "<|im_end|>"}),
    ],
)
def test_the_summary_says_what_matters(family: str, told: dict[str, str]) -> None:
    found = Chat(make_tokenizer(family)).summary()
    for key, words in told.items():
        assert words in found[key]


def test_an_unsuitable_template_is_refused_before_any_weights_are_read(tmp_path: Path) -> None:
    make_tokenizer("chatml", FORGETFUL).save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadInput, match="not prefix-preserving"):
        Versions(tmp_path / "home").bootstrap(PolicyConfig(model=str(tmp_path)))
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("template_source", "code", "words"),
    [(None, 0, '"suitable": true'), (FORGETFUL, 1, "it rewrites earlier turns")],
)
def test_the_commands_exit_code_is_the_answer(
    template_source: str | None, code: int, words: str, tmp_path: Path
) -> None:
    make_tokenizer("chatml", template_source).save_pretrained(tmp_path)
    done = CliRunner().invoke(spadework.app, ["template", str(tmp_path), "--json"])
    assert (done.exit_code, words in done.stdout) == (code, True)


def test_a_folder_without_a_tokenizer_is_misuse(tmp_path: Path) -> None:
    done = CliRunner().invoke(spadework.app, ["template", str(tmp_path)])
    assert isinstance(done.exception, BadInput)
