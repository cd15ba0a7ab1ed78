"""What ``report`` and ``bench heldout`` do once they are called."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

from bench.figures import RunFigures, gather, run_shards, run_versions
from bench.heldout.evaluate import chosen, open_evaluator
from bench.heldout.results import DECODINGS, Result
from bench.report import rounds_table, write_page
from bench.text import compact_text, estimate_text
from memory import MemoryConfig, Store
from solver.config import PolicyConfig
from solver.versions import Versions
from spadekit.cli import Session
from spadekit.errors import BadInput
from spadekit.runs import run_name


def report(session: Session, run: str, heldout_every: int) -> None:
    """Write the page of a run and print where it is and its main figures (``--json``: all)."""
    run_name(run)
    versions = Versions(session.home / "policy")
    memory = session.settings.section(MemoryConfig)
    with Store.open(memory.place(session.home), memory) as store:
        if heldout_every:
            mine = run_versions(versions, run_shards(session.home, store, run))
            asyncio.run(evaluate(session, run, chosen(mine, heldout_every)))
        figures = gather(session.home, store, versions, run)
    path = write_page(figures, session.home / "runs" / run / "report.html")
    if session.report.as_json:
        session.report.data({"page": str(path), **figures.as_json()})
        return
    table = rounds_table(figures, compact_text)
    shown = ("round", "valid", "admitted", "unhinted", "hinted", "regret", "learnable", "seconds")
    places = [table["columns"].index(name) for name in shown]
    session.report.table(
        f"{run}: {len(figures.rounds)} rounds, 95 % intervals over environments",
        shown,
        [[row[place] for place in places] for row in table["rows"]],
        spare=("seconds", "admitted"),
    )
    _print_heldout(session, figures)
    session.report.text(f"report: {path}")


def heldout(session: Session, run: str, version: int | None) -> None:
    """Judge one version on the held-out set, by family and in all."""
    run_name(run)
    versions = Versions(session.home / "policy")
    if not versions.all():
        versions.bootstrap(session.settings.section(PolicyConfig))
    number = versions.latest() if version is None else version
    [result] = asyncio.run(evaluate(session, run, [number]))
    if session.report.as_json:
        estimates = {decoding: asdict(result.estimate(decoding)) for decoding in DECODINGS}
        session.report.data({**asdict(result), "estimates": estimates})
        return
    rows = [
        [
            family or "-",
            *(estimate_text(result.by_family(decoding)[family]) for decoding in DECODINGS),
            found.clusters,
        ]
        for family, found in result.by_family("sampled").items()
    ]
    rows.append(
        [
            "all",
            *(estimate_text(result.estimate(decoding)) for decoding in DECODINGS),
            result.estimate("sampled").clusters,
        ]
    )
    session.report.table(
        f"held-out return of policy version {number}, 95 % intervals over environments",
        ["family", "training temperature", "greedy", "environments"],
        rows,
    )


async def evaluate(session: Session, run: str, numbers: Sequence[int]) -> list[Result]:
    """Judge several versions one after another, telling how it goes."""
    if not numbers:
        raise BadInput("there is no policy version to judge; `spadework loop` makes some")
    results = []
    async with open_evaluator(
        session.home, run, session.settings, numbers[0], session.report.note
    ) as evaluator:
        with session.report.progress() as progress:
            task = progress.add_task("held-out set: versions", total=len(numbers), note="")
            for number in numbers:
                results.append(await evaluator.evaluate(number))
                progress.advance(task)
    return results


BAR = 40
"""Width of a bar that stands for a return of 1."""


def _print_heldout(session: Session, figures: RunFigures) -> None:
    if not figures.heldout:
        session.report.note(
            "held-out return: not measured yet; "
            f"`spadework report {figures.run} --heldout-every 5` measures it"
        )
        return
    rows = [
        [
            *(str(one.version), estimate_text(one.sampled), estimate_text(one.greedy)),
            "█" * round(BAR * (one.sampled.mean or 0.0)),
        ]
        for one in figures.heldout
    ]
    if figures.change:
        changes = [estimate_text(figures.change[decoding]) for decoding in DECODINGS]
        rows.append(["change, paired", *changes, ""])
    session.report.table(
        "held-out return, 95 % intervals over environments",
        ["policy version", "training temperature", "greedy", "curve"],
        rows,
        spare=["curve"],
    )
