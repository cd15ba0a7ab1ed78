"""Self-play on one machine: rounds of generate and train, with the weights flowing back.

There is no state of its own to lose: shard ``r`` says that round ``r`` was generated (or a pool imported
in its place), policy version ``r`` that it was trained on, so a killed loop goes on with whichever of
the two is missing first.
"""

import time
from typing import Any

from envgen.config import DesignerConfig
from envgen.display import shown
from envgen.producer import Round, summary_of
from envgen.summary import outside_share
from envgen.workspace import Workspace
from memory.variety import alarm
from solver.config import SyncConfig, TrainConfig
from solver.policy import require_tokens
from solver.trainer import train_step
from spadekit.errors import BadInput
from spadekit.files import write_json


async def generate(work: Workspace, rounds: int | None) -> list[dict[str, Any]]:
    """Bring the run to ``rounds`` published rounds, one more by default; return what they measured.

    Each is designed with the version that the schedule gives. Rounds that are there are read back, so
    the result is the same whether the run was interrupted or not; without ``rounds`` it is the new
    one's. Imported pools are shards and no rounds.
    """
    here = work.store.shards()
    made = [summary_of(one) for one in here if one.meta.get("origin") != "import"]
    wanted = len(made) + 1 if rounds is None else rounds
    if len(made) >= wanted:
        work.report.note(f"the run has {len(made)} rounds already; a larger --rounds goes on")
        return made[:wanted]
    first = max((one.shard for one in here), default=0) + 1
    version = served(work, work.versions.latest())
    new: list[dict[str, Any]] = []
    with shown(work.report, wanted - len(made)) as tell:
        for number in range(first, first + wanted - len(made)):
            new.append(await Round(work, number, version, tell).run())
            _alarm(work, new[-1])
    return new if rounds is None else made + new


async def selfplay(work: Workspace, rounds: int | None) -> list[dict[str, Any]]:
    """Bring the run to ``rounds`` rounds, one more by default; return what every round measured.

    Rounds that are done already are read back from the store, so the result is the same whether
    the run was interrupted or not. Raises ``BadInput`` in a home whose versions were trained in
    another order than one shard after the other, and for a designer that learns from its context.
    """
    require_tokens(work.policy)
    _require_weights(work)
    done = work.versions.latest()
    rounds = done + 1 if rounds is None else rounds
    _describe(work, rounds)
    if work.versions.has(rounds):
        work.report.note(f"the run has {rounds} rounds already; a larger --rounds goes on")
    summaries = []
    with shown(work.report, max(1, rounds - done)) as tell:
        for number in range(1, rounds + 1):
            started = time.monotonic()
            finished = work.versions.has(number)
            published = {manifest.shard: manifest for manifest in work.store.shards()}
            if number in published:
                summary = summary_of(published[number])
            else:
                summary = await Round(work, number, served(work, number - 1), tell).run()
            if not finished:
                await train_step(
                    work.store, work.policy, work.pool, work.versions, work.settings, number
                )
            summaries.append(_with_training(work, summary, number))
            if not finished:
                work.report.note(_line(summaries[-1], time.monotonic() - started))
                _alarm(work, summary)
    return summaries


def _alarm(work: Workspace, summary: dict[str, Any]) -> None:
    """Say what is alarming about a round's shard: environments that are all alike, reward hacks."""
    if summary.get("variety", {}).get("collapsed"):
        share, admitted = summary["variety"]["vendi_share"], summary["admitted"]
        work.report.error(alarm(summary["round"], share, admitted))
    for line in summary.get("monitors", {}).get("alarms", ()):
        work.report.error(line)


def _require_weights(work: Workspace) -> None:
    """Refuse to train a designer that is set to learn from its context: its weights are frozen."""
    settings = work.settings
    if settings.section(DesignerConfig).learning == "weights":
        return
    if settings.section(TrainConfig).designer_weight:
        raise BadInput(
            'designer.learning = "context" is for a designer that is not trained: set '
            "train.designer_weight = 0 (the solver's role is then trained alone), or use "
            "`spadework generate`, which trains nothing"
        )


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
