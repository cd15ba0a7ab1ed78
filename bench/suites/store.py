"""What is kept of a suite: a journal with a line for every reply, and the result that they give.

    home/suites/SUITE/DIGEST.jsonl   the protocol, then every reply and its mark, as they come
    home/suites/SUITE/DIGEST.json    the result: means, intervals, notes, machine

The digest is of the protocol: everything but the number of questions and samples that decides a mark.
So a run that was stopped goes on, and one that asks more questions asks only those.
"""

import datetime as dt
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench.machine import machine
from bench.statistics import Estimate, clustered_mean
from bench.suites.suite import Mark, Question
from spadekit.errors import BadInput
from spadekit.files import Journal, expect, write_json

MARKING = 2
"""Raised when a prompt or a grader changes: marks of another number do not compare."""


@dataclass(frozen=True)
class Protocol:
    """Everything that decides a mark, but for how many questions are asked and how often.

    ``policy``: the digest of its weights, or the model and address of an endpoint.
    """

    suite: str
    revision: str
    policy: str
    thinking: str
    temperature: float
    top_p: float
    top_k: int
    max_tokens: int
    context: int
    seed: int
    isolation: str
    marking: int = MARKING

    @property
    def digest(self) -> str:
        """Sixteen hex digits that stand for all of it."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Result:
    """A suite's figures. ``of``: questions that there are; ``notes``: what went wrong, how often."""

    suite: str
    group: str
    estimate: Estimate
    of: int
    categories: Mapping[str, Estimate]
    notes: Mapping[str, int]
    protocol: Protocol
    machine: Mapping[str, Any]
    created: str
    path: str


class Marks:
    """The journal of one suite under one protocol."""

    def __init__(self, home: Path, protocol: Protocol) -> None:
        self.path = home / "suites" / protocol.suite / f"{protocol.digest}.jsonl"
        self._protocol = protocol
        try:
            self._journal = Journal(self.path, _check)
        except OSError as error:
            raise BadInput(f"{self.path} cannot be written: {error.strerror or error}") from None
        if not self._journal.entries:
            self._journal.append({"protocol": asdict(protocol)})
        if self._journal.entries[0].get("protocol") != asdict(protocol):
            self._journal.close()
            raise BadInput(f"{self.path}: of another protocol; move it away to measure again")

    def has(self) -> set[tuple[str, int]]:
        """Return which (question, sample) have been marked."""
        return {(one["question"], one["sample"]) for one in self._journal.entries[1:]}

    def add(self, question: Question, sample: int, mark: Mark, replies: Sequence[str]) -> None:
        """Keep a mark, and all that was said for it."""
        self._journal.append(
            {
                "question": question.id,
                "category": question.category,
                "sample": sample,
                "score": mark.score,
                "note": mark.note,
                "replies": list(replies),
            }
        )

    def result(self, group: str, questions: Iterable[Question], samples: int, of: int) -> Result:
        """Write and return the result over the first ``samples`` samples of ``questions``."""
        asked = {one.id: one.category for one in questions}
        entries = [
            one
            for one in self._journal.entries[1:]
            if one["question"] in asked and one["sample"] < samples
        ]
        notes = Counter(note for one in entries for note in one["note"].split("; ") if note)
        result = Result(
            suite=self._protocol.suite,
            group=group,
            estimate=_estimate(entries),
            of=of,
            categories={
                category: _estimate(one for one in entries if asked[one["question"]] == category)
                for category in dict.fromkeys(asked.values())
            },
            notes=dict(notes.most_common()),
            protocol=self._protocol,
            machine=machine(),
            created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            path=str(self.path),
        )
        self._journal.sync()
        write_json(self.path.with_suffix(".json"), {**asdict(result), "path": self.path.name})
        return result

    def close(self) -> None:
        """Sync and close."""
        self._journal.close()


def _check(number: int, entry: Mapping[str, Any]) -> None:
    if number == 1:
        expect(entry, protocol=dict)
    else:
        expect(entry, question=str, sample=int, note=str)
        float(entry["score"])


def _estimate(entries: Iterable[Mapping[str, Any]]) -> Estimate:
    """Return the mean over questions; its interval ends where marks do."""
    scores: dict[str, list[float]] = {}
    for one in entries:
        scores.setdefault(one["question"], []).append(one["score"])
    found = clustered_mean(scores)
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))
