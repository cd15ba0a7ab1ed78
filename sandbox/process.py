"""The weaker isolation, asked for by name: a separate process with rlimits and nothing more.

It keeps crashes, hangs and memory away from us and scrubs the environment variables. It does not
keep the code from the network, from files that the user may read, or from other processes of the
same user. What it produces is marked with its name.
"""

from pathlib import Path
from typing import Final

from sandbox.interpreter import Interpreter
from sandbox.nsjail import guest_command

_ENVIRONMENT: Final = {"HOME": "/", "TZ": "UTC"}


def argv(python: Interpreter, control: int) -> list[str]:
    """Return the command line of one weakly isolated guest."""
    return guest_command(python, control)


def environment(programs: Path, hash_seed: int) -> dict[str, str]:
    """Return all the environment variables of a weakly isolated guest."""
    return {**_ENVIRONMENT, "PYTHONPATH": str(programs), "PYTHONHASHSEED": str(hash_seed)}
