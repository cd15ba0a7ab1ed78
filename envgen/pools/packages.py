"""Tasks of ``reasoning-gym`` and ``rlve-gym``, made into programs by a process of their own."""

import difflib
import importlib.util
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from envgen.pools.candidate import Candidate, Found, Unusable, skills_of, unusable
from envgen.pools.child import Child, child, environment
from spadekit.errors import BadInput, OurFault

MODULES = {"reasoning-gym": "reasoning_gym", "rlve-gym": "Gym"}
"""Packages of tasks and the modules that they install."""
START_S = 180.0
TASK_S = 300.0
LONGEST = 16_000_000
"""Bytes of a line that the maker prints."""


def split(uri: str) -> tuple[str, tuple[str, ...]] | None:
    """Return (package, tasks) of ``reasoning-gym`` or ``reasoning-gym:gcd,lcm``, else None."""
    package, _, tasks = uri.partition(":")
    if package not in MODULES:
        return None
    return package, tuple(name.strip() for name in tasks.split(",") if name.strip())


def read_package(package: str, wanted: Sequence[str], largest: int) -> Iterator[Found]:
    """Yield a candidate for each task named (all without a name), in order. Raises ``BadInput``."""
    if importlib.util.find_spec(MODULES[package]) is None:
        raise BadInput(f"{package} is not installed; `pip install -e '.[pools]'` installs it")
    left = list(dict.fromkeys(wanted))
    checked = False
    while left or not checked:
        with _maker(package, left) as lines:
            known = _known(lines, package)
            if not checked:
                _check(package, left, known)
                left, checked = left or known, True
            while left:
                try:
                    made = _next(lines, TASK_S, package)
                except TimeoutError:
                    detail = f"it was not made within {TASK_S:g} s"
                    yield Unusable(f"{package}:{left.pop(0)}", "slow", detail)
                    break
                except ValueError as error:
                    yield Unusable(f"{package}:{left.pop(0)}", "size", str(error))
                    break
                yield _found(package, left.pop(0), made, largest)


def _check(package: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, 3)
            told = f"; is it {' or '.join(near)}?" if near else ""
            raise BadInput(f"{package} has no task {name!r}{told}")


def _found(package: str, task: str, made: dict[str, Any], largest: int) -> Found:
    place = f"{package}:{task}"
    if "refused" in made:
        return Unusable(place, "unfaithful", made["refused"])
    problem = unusable(place, made["source"], largest)
    return problem or Candidate(place, made["source"], "", skills_of(made["skills"]))


@contextmanager
def _maker(package: str, tasks: Sequence[str]) -> Iterator[Child]:
    """Run the maker; a fixed hash seed makes what it makes the same each time."""
    # -P: a json.py in the working folder is not the standard library's.
    command = [sys.executable, "-P", "-m", "envgen.pools.make", package, *tasks]
    with child(command, environment(PYTHONHASHSEED="0", CUDA_VISIBLE_DEVICES="")) as maker:
        yield maker


def _known(lines: Child, package: str) -> list[str]:
    """Return the names of all tasks. Raises ``OurFault`` where the maker does not tell them."""
    try:
        names: list[str] = _next(lines, START_S, package)["tasks"]
    except TimeoutError:
        raise OurFault(
            f"{package} was not loaded within {START_S:g} s; is this machine too busy?"
        ) from None
    return names


def _next(lines: Child, seconds: float, package: str) -> dict[str, Any]:
    """Return what the maker says next. Raises ``TimeoutError`` and ``ValueError`` as ``Child.next`` does."""
    line = lines.next(seconds, LONGEST)
    if not line:
        raise OurFault(
            f"the process that makes questions with {package} ended; "
            f"`python -P -m envgen.pools.make {package}` shows why"
        )
    made: dict[str, Any] = json.loads(line)
    return made
