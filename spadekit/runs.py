"""What a run may be called, the option ``--run`` of the commands that work on one, and how long it gets."""

from typing import Annotated

import typer

from spadekit.errors import BadInput

MOST = 999_999
"""Rounds and policy versions of a run: their names have six digits."""


def run_name(text: str) -> str:
    """Return a run's name as it is; ``BadInput`` for one that could not be a folder's everywhere."""
    if not text.replace("-", "").replace("_", "").isalnum():
        raise BadInput(f"run {text!r}: a run's name has letters, digits, `-` and `_` only")
    return text


RunOption = Annotated[str, typer.Option("--run", help="Name of the run.", callback=run_name)]
