"""Self-play: rounds of generate and train with the weights flowing back, by turns or in two processes.

There is no state of its own to lose: shard ``r`` says that round ``r`` was generated (or a pool imported
in its place), policy version ``r`` that it was trained on, so a killed loop goes on with whichever of
the two is missing first. In two processes each looks for what the other has published, and for nothing
else.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from envgen.config import DesignerConfig
from envgen.display import shown
from envgen.producer import Round, summary_of
from envgen.summary import outside_share
from envgen.workspace import Workspace
from memory.variety import alarm
from solver import curves, sync
from solver.config import SolverConfig, SyncConfig, TrainConfig
from solver.metrics import left_out
from solver.policy import is_whole, require_tokens
from solver.trainer import train_step
from spadekit.errors import BadInput
from spadekit.files import write_json
from spadekit.home import training

Tell = Callable[[dict[str, Any]], None]


async def generate(work: Workspace, rounds: int | None) -> list[dict[str, Any]]:
    """Bring the run to ``rounds`` published rounds, one more by default; return what they measured.

    Each is designed with the version that the schedule gives. Rounds that are there are read back, so
    the result is the same whether the run was interrupted or not; without ``rounds`` it is the new
    one's. Imported pools are shards and no rounds.
    """
    made = _rounds(work)
    wanted = len(made) + 1 if rounds is None else rounds
    if len(made) >= wanted:
        work.report.note(f"the run has {len(made)} rounds already; a larger --rounds goes on")
        return made[:wanted]
    first = max(work.store.numbers(), default=0) + 1
    version = served(work, work.versions.latest())
    new: list[dict[str, Any]] = []
    if not is_whole(designer := work.settings.section(DesignerConfig)):
        work.report.note(
            f"designer.top_p = {designer.top_p:g} and designer.top_k = {designer.top_k}: such designs are "
            "kept, and not trained on"
        )
    with shown(work.report, wanted - len(made)) as tell:
        for number in range(first, first + wanted - len(made)):
            new.append(await Round(work, number, version, tell).run())
            _alarm(work, new[-1])
            _draw(work)
    return new if rounds is None else made + new


async def follow(work: Workspace, rounds: int | None, tell_round: Tell) -> None:
    """Produce rounds beside a trainer in another process, until the run has ``rounds``; or for ever.

    Each is designed with the version that the schedule gives its shard (``solver.sync``); where the
    trainer is not that far it is waited for. ``tell_round`` gets what each new round measured. Raises
    ``BadInput`` where no trainer could follow: versions out of step with shards, designs that would be
    too old, a policy that cannot be trained.
    """
    config = work.settings.section(SyncConfig)
    _require_trainable(work)
    sync.check_lag(config, work.settings.section(TrainConfig))
    sync.check_in_step(work.versions)
    _describe(work, rounds)
    made = len(_rounds(work))
    if rounds is not None and made >= rounds:
        work.report.note(f"the run has {made} rounds already; a larger --rounds goes on")
    while rounds is None or made < rounds:
        number = max(work.store.numbers(), default=0) + 1
        await _trainer_near(work, number)
        started = time.monotonic()
        with shown(work.report, 1) as tell:
            summary = await Round(work, number, sync.designs(number, config), tell).run()
        made += 1
        used = f", designed by policy version {summary['policy_version']}"
        work.report.note(_line(summary, time.monotonic() - started) + used)
        _alarm(work, summary)
        _draw(work)
        tell_round(summary)


async def _trainer_near(work: Workspace, number: int) -> None:
    """Wait until the trainer is near enough for a shard to be designed."""
    config = work.settings.section(SyncConfig)

    def near() -> bool | None:
        return True if not sync.missing(number, work.versions.latest(), config) else None

    def waiting() -> None:
        newest = work.versions.latest()
        work.report.note(
            f"waiting for policy version {number - config.max_ahead}: round {number} may be "
            f"{config.max_ahead} ahead of the trainer (sync.max_ahead), which is at {newest}; "
            "`spadework train --follow` brings it on"
        )

    await sync.until(near, config.watch_s, waiting)


def _rounds(work: Workspace) -> list[dict[str, Any]]:
    """Return what the rounds that are published measured; imported pools are shards and no rounds."""
    return [summary_of(one) for one in work.store.shards() if one.meta.get("origin") != "import"]


async def selfplay(work: Workspace, rounds: int | None) -> list[dict[str, Any]]:
    """Bring the run to ``rounds`` rounds, one more by default; return what every round measured.

    Rounds that are done already are read back from the store, so the result is the same whether
    the run was interrupted or not. Raises ``BadInput`` in a home whose versions were trained in
    another order than one shard after the other, for a designer that learns from its context, and
    while another process trains there.
    """
    with training(work.home):
        return await _by_turns(work, rounds)


async def _by_turns(work: Workspace, rounds: int | None) -> list[dict[str, Any]]:
    _require_trainable(work)
    taking_turns = replace(work.settings.section(SyncConfig), max_ahead=1)
    sync.check_lag(taking_turns, work.settings.section(TrainConfig))
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
                step = await train_step(
                    work.store, work.policy, work.pool, work.versions, work.settings, number
                )
                if said := left_out(step.metrics):
                    work.report.note(said)
            summaries.append(_with_training(work, summary, number))
            if not finished:
                work.report.note(_line(summaries[-1], time.monotonic() - started))
                _alarm(work, summary)
                _draw(work)
    return summaries


def _alarm(work: Workspace, summary: dict[str, Any]) -> None:
    """Say what is alarming about a round's shard: environments that are all alike, reward hacks."""
    if summary.get("variety", {}).get("collapsed"):
        share, admitted = summary["variety"]["vendi_share"], summary["admitted"]
        work.report.error(alarm(summary["round"], share, admitted))
    for line in summary.get("monitors", {}).get("alarms", ()):
        work.report.error(line)


def _draw(work: Workspace) -> None:
    """Bring the run's curves up to what is stored."""
    curves.update(work.home, work.store.shards(), work.versions, work.report.note)


def _require_trainable(work: Workspace) -> None:
    """Refuse a policy, or settings, whose roles cannot be trained on what they sample."""
    settings = work.settings
    designer = settings.section(DesignerConfig)
    trained = [designer] if settings.section(TrainConfig).designer_weight else []
    require_tokens(work.policy, settings.section(SolverConfig), *trained)
    if trained and designer.learning == "context":
        raise BadInput(
            'designer.learning = "context" is for a designer that is not trained: set '
            "train.designer_weight = 0 (the solver's role is then trained alone), or use "
            "`spadework generate`, which trains nothing"
        )


def _describe(work: Workspace, rounds: int | None) -> None:
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
    return sync.served(newest, work.settings.section(SyncConfig).every)


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
