"""Does the filter tell variants from look-alikes, and what does a decision cost?"""

import ast
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.memory import synthetic
from bench.memory.programs import known, look_alikes
from bench.memory.variants import VARIANTS
from bench.statistics import quantile
from bench.throughput.row import Row
from memory.diversity import DiversityFilter, Known, jaccard, sketch

JUDGED = 60
BAR = 0.70  # of the peer: raw 5-token shingles


@dataclass(frozen=True)
class Verdicts:
    """Variants refused by kind, and look-alikes refused, with how many there were of each."""

    refused: dict[str, int]
    programs: int
    wrong: tuple[str, ...]
    look_alikes: int

    @property
    def recall(self) -> float:
        """Share of all variants that were refused."""
        return sum(self.refused.values()) / (self.programs * len(self.refused))


def judge_all(seed: int = 0) -> Verdicts:
    """Judge every variant against the forty programs, and every look-alike."""
    programs, others = known(), look_alikes()
    filter_ = DiversityFilter(Known(task.name, task.source) for task in programs)
    refused = dict.fromkeys(VARIANTS, 0)
    for task in programs:
        for name, change in VARIANTS.items():
            variant = change(task.source, random.Random(f"{seed} {name} {task.name}"))
            decision = filter_.decide("new", variant)
            refused[name] += not decision.accepted and decision.nearest == task.name
    wrong = [one.name for one in others if not filter_.decide("new", one.source).accepted]
    return Verdicts(refused, len(programs), tuple(wrong), len(others))


def raw_recall(seed: int = 0) -> float:
    """Return the recall of the plain method: 5-token shingles, names and constants as they are."""
    caught = total = 0
    for task in known():
        mine = _raw(task.source)
        for name, change in VARIANTS.items():
            variant = change(task.source, random.Random(f"{seed} {name} {task.name}"))
            caught += jaccard(mine, _raw(variant)) >= BAR
            total += 1
    return caught / total


def filled(count: int) -> DiversityFilter:
    """Return a filter that knows ``count`` environments, the forty programs among them."""
    chance = np.random.default_rng(0)
    signatures_NP = chance.integers(0, 2**32, (count, 128), dtype=np.uint64)
    ids = [f"{number:020x}" for number in range(count)]
    digests = [f"tree{number}" for number in range(count)]
    sources = {}
    for row, task in enumerate(known()):
        digests[row], signature = sketch(task.source)
        signatures_NP[row] = signature
        sources[ids[row]] = task.source
    found = DiversityFilter(source_of=sources.__getitem__)
    found.extend(ids, digests, digests, signatures_NP)
    return found


def measure(environments: int) -> list[Row]:
    """Return recall, false refusals, and milliseconds per decision."""
    verdicts = judge_all()
    raw = raw_recall()
    rows = [
        Row(
            part="duplicates",
            measure="variants refused",
            value=verdicts.recall,
            unit="share",
            n=verdicts.programs * len(VARIANTS),
            peer="shingles, names as they are",
            peer_value=raw,
        )
    ]
    rows += [
        Row(
            part="duplicates",
            measure=f"variants refused: {name}",
            value=caught / verdicts.programs,
            unit="share",
            n=verdicts.programs,
        )
        for name, caught in verdicts.refused.items()
    ]
    rows.append(
        Row(
            part="duplicates",
            measure="look-alikes refused",
            value=float(len(verdicts.wrong)),
            unit="",
            n=verdicts.look_alikes,
        )
    )
    return rows + cost(environments)


def cost(environments: int) -> list[Row]:
    """Return the cost of a decision on sources of 4 KB, and on variants of what is known."""
    filter_ = filled(environments)
    peer = _flat(environments)
    numbers = range(environments, environments + JUDGED)
    fresh = [synthetic.program(number, random.Random(number)) for number in numbers]
    change = VARIANTS["all at once"]
    alike = [change(task.source, random.Random(task.name)) for task in known()]
    rows = []
    for name, sources in (("new designs of 4 KB", fresh), ("variants of known ones", alike)):
        ours, theirs = [], []
        for number, source in enumerate(sources):
            began = time.perf_counter()
            filter_.decide(f"new{number}", source, f"behaviour{number}")
            middle = time.perf_counter()
            peer(source)
            ours.append((middle - began) * 1e3)
            theirs.append((time.perf_counter() - middle) * 1e3)
        rows.append(
            Row(
                part="duplicates",
                measure=f"a decision, {name}, {environments:,} known",
                value=quantile(ours, 0.5),
                unit="ms",
                n=len(sources),
                peer="sketch and compare every signature",
                peer_value=quantile(theirs, 0.5),
            )
        )
    return rows


def _flat(environments: int) -> Callable[[str], float]:
    """Return the plain method: sketch, then estimate the similarity with every known signature."""
    chance = np.random.default_rng(0)
    signatures_NP = chance.integers(0, 2**32, (environments, 128), dtype=np.uint32)

    def nearest(source: str) -> float:
        _, signature = sketch(source)
        mine = np.array(signature, np.uint32)
        return float((signatures_NP == mine).mean(axis=1).max())

    return nearest


def _raw(source: str) -> frozenset[str]:
    tokens = re.findall(r"\w+|[^\w\s]", ast.unparse(ast.parse(source)))
    return frozenset(" ".join(tokens[at : at + 5]) for at in range(len(tokens) - 4))
