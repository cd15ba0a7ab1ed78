"""What designs were refused for lately, told to the designer so that it does not happen again."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from memory import Store

SHARDS = 8
"""How many of the newest shards are looked at: what a policy has unlearned should not be repeated."""
LONGEST = 300
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")


@dataclass(frozen=True)
class Refusal:
    """A refused design: the stage that said no, and its message."""

    stage: str
    message: str


@dataclass(frozen=True)
class Failure:
    """A kind of refusal and how often it was met; ``message`` has N in the place of numbers."""

    stage: str
    message: str
    times: int


def frequent(refusals: Iterable[Refusal], most: int) -> tuple[Failure, ...]:
    """Return the ``most`` kinds of refusal met most often, the most frequent first.

    Refusals (oldest first) are of one kind when they differ in numbers and in what is quoted only;
    the newest stands for its kind. Kinds met equally often are in the order of their text.
    """
    times: Counter[tuple[str, str]] = Counter()
    newest: dict[tuple[str, str], str] = {}
    for refusal in refusals:
        # A message may quote a program's own text: one line of what can be printed, nothing else.
        told = "".join(c if c.isprintable() else " " for c in refusal.message)
        told = NUMBER.sub("N", " ".join(told.split()))[:LONGEST]
        kind = (refusal.stage, QUOTED.sub("'...'", told))
        times[kind] += 1
        newest[kind] = told
    ranked = sorted(times, key=lambda kind: (-times[kind], kind))
    return tuple(Failure(kind[0], newest[kind], times[kind]) for kind in ranked[:most])


def refusals(store: Store, setting: str, shards: int = SHARDS) -> list[Refusal]:
    """Return the refusals of a setting in the newest ``shards`` shards, oldest first."""
    numbers = [manifest.shard for manifest in store.shards()]
    if not numbers:
        return []
    where = f"outcome = 'refused' AND shard >= {numbers[-shards:][0]}"
    columns = ["id", "shard", "brief", "stage", "detail"]
    rows = store.scan("designs", where, columns).to_pylist()
    rows.sort(key=lambda row: (row["shard"], row["id"]))
    return [
        Refusal(row["stage"], row["detail"])
        for row in rows
        if json.loads(row["brief"] or "{}").get("setting") == setting
    ]
