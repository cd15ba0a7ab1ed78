"""The plays of a ladder: one line each in an append-only file, so that none is made twice.

A play is known by version, weights, environment, its number among the plays of that pair, and the
protocol: everything else that decides it. Plays of another protocol or of replaced weights stay in the
file and do not count.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.ladder.config import LadderConfig
from bench.ladder.field import Field
from bench.ladder.ratings import Tally
from bench.playing import Playing, playing_of
from solver.episodes import Job, Play
from spadekit.errors import BadInput
from spadekit.files import Journal
from spadekit.seeds import derive
from spadekit.settings import Settings


class Key(NamedTuple):
    """Which play: ``number`` counts the plays of one version on one environment."""

    version: int
    environment: str
    number: int


@dataclass(frozen=True)
class Protocol(Playing):
    """What decides a play besides version, environment and number."""

    seed: int

    @classmethod
    def of(cls, settings: Settings) -> "Protocol":
        """Return the protocol that the settings ask for: plays as in training, without the hint."""
        return cls(**asdict(playing_of(settings)), seed=settings.section(LadderConfig).seed)

    @property
    def digest(self) -> str:
        """Sixteen hex digits for all of it."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:16]

    def job(self, key: Key, source: str) -> Job:
        """Return the play: the same instance and the same luck for every version."""
        name = ("ladder", key.environment)
        return Job(
            environment=key.environment,
            source=source,
            seed=derive(self.seed, *name, "instance", key.number) % 2**31,
            hint=None,
            sample_seed=derive(self.seed, *name, "sample", key.number),
        )


class Book:
    """The plays that count for a field and a protocol. Close it when done."""

    def __init__(self, path: Path, field: Field, protocol: Protocol) -> None:
        """Open or begin the file. Raises ``BadInput`` where it is damaged or cannot be written."""
        self.protocol, self.field = protocol, field
        self.returns: dict[Key, float | None] = {}
        """By play; None: the environment faulted."""
        self.planned: list[Key] = []
        """The newest wave, played or not."""
        self._weights = {one.version: one.weights for one in field.contestants}
        self._environments = {one.id for one in field.environments}
        try:
            self._journal = Journal(path)
        except OSError as error:
            raise BadInput(f"{path} cannot be written: {error.strerror or error}") from None
        try:
            for entry in self._journal.entries:
                self._take(entry)
        except (KeyError, TypeError, ValueError) as error:
            self.close()
            raise BadInput(
                f"{path}: not the plays of a ladder ({error!r}); move the file away to begin again"
            ) from None

    def plan(self, wave: Iterable[Key]) -> None:
        """Write a wave down before it is played, so that a resumed ladder plays the same."""
        self.planned = list(wave)
        self._journal.append({"protocol": self.protocol.digest, "wave": self.planned})

    def add(self, keys: Sequence[Key], plays: Sequence[Play]) -> None:
        """Write plays down; they are on the disk when this returns."""
        for key, play in zip(keys, plays, strict=True):
            self._journal.append(
                {
                    "protocol": self.protocol.digest,
                    **key._asdict(),
                    "weights": self._weights[key.version],
                    "return": play.episode_return,
                    "turns": play.turns,
                    "fault": play.fault,
                }
            )
            self.returns[key] = play.episode_return
        self._journal.sync()

    def close(self) -> None:
        """Close the file."""
        self._journal.close()

    def tallies(self) -> list[Tally]:
        """Return the plays that did not fault, shard by shard."""
        place = self.field.places
        tallies = []
        for course in self.field.courses:
            row = {one.id: at for at, one in enumerate(course.environments)}
            total_EV, plays_EV = np.zeros((2, len(row), len(place)))
            for key, value in self.returns.items():
                if key.environment in row and value is not None:
                    total_EV[row[key.environment], place[key.version]] += value
                    plays_EV[row[key.environment], place[key.version]] += 1
            tallies.append(Tally(total_EV, plays_EV))
        return tallies

    def unsound(self) -> set[str]:
        """Return the environments that faulted in more than half of their plays."""
        made = Counter(key.environment for key in self.returns)
        broken = Counter(key.environment for key, value in self.returns.items() if value is None)
        return {name for name, count in broken.items() if 2 * count > made[name]}

    def _take(self, entry: dict[str, Any]) -> None:
        if entry["protocol"] != self.protocol.digest:
            return
        if "wave" in entry:
            self.planned = [Key(int(v), str(e), int(n)) for v, e, n in entry["wave"]]
            return
        key = Key(int(entry["version"]), str(entry["environment"]), int(entry["number"]))
        if self._weights.get(key.version) != entry["weights"]:
            return
        if key.environment in self._environments:
            value = entry["return"]
            self.returns[key] = None if value is None else float(value)
