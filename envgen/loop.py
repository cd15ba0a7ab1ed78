"""Self-play on one machine: rounds of generate and train, with the weights flowing back.

There is no state of its own to lose: shard ``r`` says that round ``r`` was generated, policy version
``r`` that it was trained on, so a killed loop goes on with whichever of the two is missing first.
"""

import time
from typing import Any

from envgen.producer import Round
from envgen.workspace import Workspace
from solver.config import SyncConfig
from solver.trainer import train_step
from spadekit.files import write_json

COLUMNS = (
    ("round", "round"),
    ("valid", "valid"),
    ("new", "admitted"),
    ("unhinted", "return_unhinted"),
    ("hinted", "return_hinted"),
    ("regret", "regret"),
    ("learnable", "learnable"),
    ("reward", "designer_reward"),
    ("time s", "round_seconds"),
    ("outside", "outside"),
)
"""Columns of the loop's table and the figures they show; ``unhinted`` and ``hinted`` are returns,
``outside`` is the share of the time spent outside the policy's forward and backward passes."""


def begin(work: Workspace, rounds: int) -> None:
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


async def generate(work: Workspace, rounds: int) -> list[dict[str, Any]]:
    """Publish ``rounds`` more shards with the newest policy version (the dataset producer)."""
    first = max((manifest.shard for manifest in work.store.shards()), default=0) + 1
    summaries = []
    for number in range(first, first + rounds):
        summaries.append(await Round(work, number).run())
        work.store.index(number)
    return summaries


async def selfplay(work: Workspace, rounds: int) -> list[dict[str, Any]]:
    """Bring the run to ``rounds`` rounds and return what every round of it measured.

    Rounds that are done already are read back from the store, so the result is the same whether
    the run was interrupted or not.
    """
    begin(work, rounds)
    sync_every = work.settings.section(SyncConfig).every
    summaries = []
    for number in range(1, rounds + 1):
        started = time.monotonic()
        behind = (number - 1) % sync_every
        await work.policy.load(work.versions.path(number - 1 - behind))
        published = {manifest.shard: manifest for manifest in work.store.shards()}
        if number in published:
            summary = dict(published[number].meta)
        else:
            summary = await Round(work, number).run()
        if number not in work.versions.all():
            await train_step(
                work.store, work.policy, work.pool, work.versions, work.settings, number
            )
        work.store.index(number)
        summaries.append(_with_training(work, summary, number))
        work.report.note(_line(summaries[-1], time.monotonic() - started))
    return summaries


def _with_training(work: Workspace, summary: dict[str, Any], number: int) -> dict[str, Any]:
    """Add the training metrics of the version made from this shard, and the time of both."""
    metrics = work.versions.read(number).metrics
    seconds = summary["seconds"]
    total = seconds["total"] + metrics["seconds"]["total"]
    model = seconds["forward"] + metrics["seconds"]["forward"] + metrics["seconds"]["backward"]
    return summary | {
        "train": metrics,
        "round_seconds": total,
        "outside": 1.0 - model / total,
    }


def _line(summary: dict[str, Any], elapsed: float) -> str:
    def show(name: str) -> str:
        value = summary[name]
        return "-" if value is None else f"{value:.2f}"

    return (
        f"round {summary['round']}: {summary['valid']}/{summary['designs']} valid, "
        f"{summary['admitted']} admitted, return {show('return_unhinted')} unhinted "
        f"{show('return_hinted')} hinted, learnable {show('learnable')} ({elapsed:.1f} s)"
    )
