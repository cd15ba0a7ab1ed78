"""The seed library: hand-written environments, the designer's examples and the tests' fixtures.

Each seed is one file in ``games/`` or ``tools/``; ``seeds.toml`` holds what the source does not.
The files are read as text here: like any environment they run only in the sandbox.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
FOLDERS = {"game": "games", "tool_use": "tools"}


@dataclass(frozen=True)
class Seed:
    """One hand-written environment; ``difficulty`` goes from 1 (easy) to 5."""

    name: str
    setting: str
    skills: tuple[str, ...]
    difficulty: int
    source: str
    hint: str


@cache
def load() -> tuple[Seed, ...]:
    """Return all seeds in the order of ``seeds.toml``: games first, easy ones before hard ones."""
    table = tomllib.loads((FOLDER / "seeds.toml").read_text(encoding="utf-8"))
    return tuple(
        Seed(
            name=name,
            setting=entry["setting"],
            skills=tuple(entry["skills"]),
            difficulty=entry["difficulty"],
            source=(FOLDER / FOLDERS[entry["setting"]] / f"{name}.py").read_text(encoding="utf-8"),
            hint=" ".join(entry["hint"].split()),
        )
        for name, entry in table.items()
    )


__all__ = ["Seed", "load"]
