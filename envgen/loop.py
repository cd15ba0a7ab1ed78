"""Self-play on one machine: rounds of generate and train, with the weights flowing back.

There is no state of its own to lose: shard ``r`` says that round ``r`` was generated, policy version
``r`` that it was trained on, so a killed loop goes on with whichever of the two is missing first.
"""

import time
from typing import Any

from envgen.producer import Round, summary_of
from envgen.progress import shown
from envgen.summary import outside_share
from envgen.workspace import Workspace
from memory.variety import alarm
from solver.config import SyncConfig
from solver.policy import require_tokens
from solver.trainer import train_step
from spadekit.errors import BadInput
from spadekit.files import write_json

COLUMNS = (
    ("round", "round"),
    ("valid", "valid"),
    ("new", "admitted"),
    ("unhinted", "return_unhinted"),
    ("hinted", "return_hinted"),
    ("regret", "regret"),
    ("learnable", "learnable"),
    ("seconds", "round_seconds"),
)
"""Columns of the loop's table and the figures they show; ``unhinted`` and ``hinted`` are returns."""


async def generate(work: Workspace, rounds: int) -> list[dict[str, Any]]:
    """Publish ``rounds`` more shards with the version that the schedule has the designer use."""
    first = max((manifest.shard for manifest in work.store.shards()), default=0) + 1
    summaries = []
    for number in range(first, first + rounds):
        version = served(work, work.versions.latest())
        with shown(work.report) as tell:
            summaries.append(await Round(work, number, version, tell).run())
    return summaries


async def selfplay(work: Workspace, rounds: int) -> list[dict[str, Any]]:
    """Bring the run to ``rounds`` rounds and return what every round of it measured.

    Rounds that are done already are read back from the store, so the result is the same whether
    the run was interrupted or not. Raises ``BadInput`` in a home whose versions were trained in
    another order than one shard after the other.
    """
    require_tokens(work.policy)
    _describe(work, rounds)
    if work.versions.has(rounds):
        work.report.note(f"the run has {rounds} rounds already; a larger --rounds goes on")
    summaries = []
    for number in range(1, rounds + 1):
        started = time.monotonic()
        finished = work.versions.has(number)
        published = {manifest.shard: manifest for manifest in work.store.shards()}
        if number in published:
            summary = summary_of(published[number])
        else:
            with shown(work.report) as tell:
                summary = await Round(work, number, served(work, number - 1), tell).run()
        if not finished:
            await train_step(
                work.store, work.policy, work.pool, work.versions, work.settings, number
            )
        summaries.append(_with_training(work, summary, number))
        if not finished:
            work.report.note(_line(summaries[-1], time.monotonic() - started))
            if summary["variety"]["collapsed"]:
                share, admitted = summary["variety"]["vendi_share"], summary["admitted"]
                work.report.error(alarm(number, share, admitted))
    return summaries


def _describe(work: Workspace, rounds: int) -> None:
    """Record what the run is, for ``spadework report``."""
    write_json(
        work.run_dir / "run.json",
        {
            "run": work.run,
            "rounds": rounds,
            "seed": work.seed,
            "settings_digest": work.settings.digest,
            "settings": work.settings.as_dict(),
        },
    )


def served(work: Workspace, newest: int) -> int:
    """Return the version that the schedule gives the designer: the newest multiple of ``every``."""
    return newest - newest % work.settings.section(SyncConfig).every


def _with_training(work: Workspace, summary: dict[str, Any], number: int) -> dict[str, Any]:
    """Add the training metrics of the version made from this shard, and the time of both."""
    info = work.versions.read(number)
    if info.shard != number:
        raise BadInput(
            f"policy version {number} was trained on shard {info.shard}, not on shard {number} "
            "(`train --steps`?); the loop needs them in step: use another --home"
        )
    seconds = info.metrics["seconds"]
    return summary | {
        "train": info.metrics,
        "round_seconds": summary["seconds"]["total"] + seconds["total"],
        "outside": outside_share(summary["seconds"], seconds),
    }


def _line(summary: dict[str, Any], elapsed: float) -> str:
    def show(name: str) -> str:
        value = summary[name]
        return "-" if value is None else f"{value:.2f}"

    return (
        f"round {summary['round']}: {summary['valid']}/{summary['designs']} valid, "
        f"{summary['admitted']} new, return {show('return_unhinted')} unhinted "
        f"{show('return_hinted')} hinted, learnable {show('learnable')} ({elapsed:.1f} s)"
    )
