"""The tables of ``bench suites``: a group's suites with their scores, and what is missing and why."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.suites.catalogue import GROUPS, SUITES
from bench.suites.run import Proof
from bench.suites.store import Result
from bench.suites.suite import Suite
from bench.text import estimate_text
from spadekit.report import Report

EIGHT = tuple(name for name, (group, _) in SUITES.items() if group == "reasoning")
"""The eight whose average is the paper's main figure."""


@dataclass(frozen=True)
class Found:
    """The suites that can be run, and why the others cannot."""

    suites: tuple[Suite, ...]
    missing: Mapping[str, str]


def show(
    report: Report, found: Found, proofs: Mapping[str, Proof], results: Sequence[Result]
) -> None:
    """Print a table for each group, the paper's average where all eight are there, and the gaps."""
    average = average_of(results)
    if report.as_json:
        report.data(
            {
                "results": [asdict(one) for one in results],
                "proofs": {
                    name: {**asdict(one), "sound": one.sound} for name, one in proofs.items()
                },
                "missing": dict(found.missing),
                "average_of_eight": average,
            }
        )
        return
    by_name = {one.suite: one for one in results}
    for group in GROUPS:
        rows = [
            _row(suite, by_name.get(suite.name), proofs.get(suite.name))
            for suite in found.suites
            if suite.group == group
        ]
        rows += [
            [name, "not available", "-", "-", "-", why]
            for name, why in found.missing.items()
            if SUITES[name][0] == group
        ]
        if rows:
            report.table(
                f"{group}, 95 % intervals over questions",
                ["suite", "score", "questions", "replies", "gold / empty", "data"],
                rows,
                spare=["data", "gold / empty"],
            )
    if average is not None:
        report.text(f"average of the paper's eight: {average:.3f}")


def average_of(results: Sequence[Result]) -> float | None:
    """Return the mean of the paper's eight suites; None unless all questions of all were asked."""
    by_name = {one.suite: one for one in results}
    means = []
    for name in EIGHT:
        one = by_name.get(name)
        if one is None or one.estimate.clusters < one.of or one.estimate.mean is None:
            return None
        means.append(one.estimate.mean)
    return sum(means) / len(means)


def _row(suite: Suite, result: Result | None, proof: Proof | None) -> list[Any]:
    proved = "-"
    if proof is not None:
        proved = " / ".join(
            "-" if value is None else f"{value:.2f}" for value in (proof.gold, proof.silence)
        )
    if result is None:
        asked = proof.questions if proof else 0
        return [suite.name, "-", f"{asked} of {len(suite.questions)}", "-", proved, suite.revision]
    estimate = result.estimate
    return [
        suite.name,
        estimate_text(estimate),
        f"{estimate.clusters} of {result.of}",
        str(estimate.n),
        proved,
        suite.revision,
    ]
