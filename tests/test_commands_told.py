"""Every command that the README and the documents tell exists, with the options that they give it."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

import spadework

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOLD = re.compile(r"^\s*(?:\$ )?(spadework [^`\n]*)|`(spadework [^`]*)`", re.MULTILINE)


def commands(page: Path) -> list[str]:
    """The command lines of a page, in fences and in sentences, without comments and what they are piped to."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    found = [first or second for first, second in TOLD.findall(text)]
    return [re.split(r"\s(?:#|[|&>]+)(?:\s|$)", one)[0].strip() for one in found]


def problem(line: str) -> str:
    """Return what of a command line does not exist; "" where all of it does."""
    here: Any = typer.main.get_command(spadework.app)
    words = shlex.split(line)[1:]
    while (inner := getattr(here, "commands", None)) and words and not words[0].startswith("-"):
        if words[0] not in inner:
            # A name in a sentence may stand for what follows, as in `spadework COMMAND --help`.
            return "" if words[0].isupper() else f"no command {words[0]}"
        here = inner[words.pop(0)]
    known = {option for one in here.params for option in (*one.opts, *one.secondary_opts)}
    given = [word.partition("=")[0] for word in words if word.startswith("--")]
    return ", ".join(f"no option {one}" for one in given if one not in {*known, "--help"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_that_are_told_exist(page: Path) -> None:
    wrong = {line: told for line in commands(page) if (told := problem(line))}
    assert wrong == {}


def test_commands_and_options_that_do_not_exist_are_found() -> None:
    assert problem("spadework lop") == "no command lop"
    assert problem("spadework bench ladder --pairs 3") == "no option --pairs"
    assert len(commands(ROOT / "README.md")) > 40
