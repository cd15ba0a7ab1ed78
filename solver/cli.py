"""The command ``spadework train``."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from solver.config import PolicyConfig, SyncConfig, TrainConfig
from spadekit.cli import Session, command, session
from spadekit.errors import BadInput
from spadekit.home import training
from spadekit.report import Report
from spadekit.runs import MOST

if TYPE_CHECKING:
    from memory import Store
    from solver.versions import Versions


Backend = Literal["local", "openrlhf"]
Step = Callable[[int, int], Awaitable[Mapping[str, Any]]]
"""Takes a shard and the version to make of it; returns the version's metrics."""
NOTHING = (
    "nothing to do: every shard asked for has its policy version (the newest is {newest}); "
    "`spadework generate` publishes more shards, --steps trains on them again"
)
COLUMNS = ("version", "shard", "plays", "return", "faulted", "solver loss", "designer loss", "s")


def register(app: typer.Typer) -> None:
    """Add the solver's commands to the front door."""

    @command(app, "train")
    def train(
        ctx: typer.Context,
        shards: Annotated[
            str,
            typer.Option(
                help="Pinned shards, like 1..12 or 1,3,5..7. Default: all.", metavar="LIST"
            ),
        ] = "",
        steps: Annotated[
            int | None,
            typer.Option(
                help="Take N more steps over the shards in turn; `loop` cannot go on from versions "
                "whose number is not their shard's. Default: one for each shard that has no policy "
                "version of its number yet.",
                min=1,
                max=MOST,
            ),
        ] = None,
        dry_run: Annotated[
            bool,
            typer.Option(
                "--dry-run",
                help="Show what would be played and trained on, on which machines and in how much "
                "memory; loads no weights, starts and writes nothing. Ends with 1 where it would not fit.",
            ),
        ] = False,
        follow: Annotated[
            bool,
            typer.Option(
                "--follow",
                help="Work beside `generate --follow` or `serve`: wait for shards and train on each "
                "once, in order, until those of --shards are done or stopped. --json prints a line for "
                "each version.",
            ),
        ] = False,
        backend: Annotated[
            Backend,
            typer.Option(
                help="What trains: this process, or OpenRLHF on the GPUs that [cluster] names "
                "(docs/openrlhf.md)."
            ),
        ] = "local",
    ) -> None:
        """GRPO for both roles on pinned shards and their designs; writes policy versions."""
        current = session(ctx)
        if follow:
            if steps is not None or dry_run:
                raise BadInput(
                    "--follow trains on each shard once: leave --steps and --dry-run out"
                )
            _follow_until_stopped(current, shards, backend)
            return
        if dry_run:
            _dry_run(current, shards, steps, backend)
            return
        rows = asyncio.run(_train(current, shards, steps, backend))
        if current.report.as_json:
            current.report.data(rows)
        elif rows:
            current.report.table("policy versions", COLUMNS, [_row(row) for row in rows])


def _follow_until_stopped(current: Session, wanted: str, backend: Backend) -> None:
    try:
        asyncio.run(_follow(current, wanted, backend))
    except KeyboardInterrupt:
        current.report.note("stopped; the same command goes on from here")
        raise typer.Exit(130) from None


async def _follow(current: Session, wanted: str, backend: Backend) -> None:
    """Train on shards as they come, each once and in order."""
    from memory import MemoryConfig, Store
    from solver import sync
    from solver.versions import Versions

    settings, note = current.settings, current.report.note
    config, memory = settings.section(SyncConfig), settings.section(MemoryConfig)
    pinned = frozenset(select(wanted, None))
    sync.check_lag(config, settings.section(TrainConfig))
    with (
        training(current.home),
        Store.open(memory.place(current.home), memory, create=True) as store,
    ):
        versions = Versions(current.home / "policy")
        versions.bootstrap(settings.section(PolicyConfig))
        sync.check_in_step(versions)

        def next_shard() -> int | None:
            published = store.numbers()
            return sync.next_shard(pinned & set(published) if pinned else published, versions.all())

        def waiting() -> None:
            newest = versions.latest()
            note(
                f"waiting for a shard after {newest}, the newest policy version; `spadework generate "
                "--follow` or `spadework serve` publishes them"
            )

        async with _steps(current, store, versions, backend) as step:
            while not pinned or not pinned <= set(versions.all()):
                shard = await sync.until(next_shard, config.watch_s, waiting)
                metrics = await step(shard, shard)
                if current.report.as_json:
                    current.report.data(metrics)


@asynccontextmanager
async def _steps(
    current: Session,
    store: "Store",
    versions: "Versions",
    backend: Backend,
    ahead: Sequence[tuple[int, int]] = (),
) -> AsyncIterator[Step]:
    """Open what training steps need, and give a function that takes one on a shard to a version.

    ``ahead``: the shards and versions that will be asked for, as far as they are known.
    """
    from solver import curves

    settings, note = current.settings, current.report.note
    async with AsyncExitStack() as stack:
        if backend == "openrlhf":
            from solver.openrlhf.backend import steps

            opened = steps(store, versions, settings, current.home, note, ahead)
        else:
            opened = _local_steps(current, store, versions)
        take = await stack.enter_async_context(opened)

        async def step(shard: int, version: int) -> Mapping[str, Any]:
            began = time.monotonic()
            metrics = await take(shard, version)
            apart = "" if version == shard else " (`loop` does not go on from such a version)"
            took = f" ({time.monotonic() - began:.1f} s)"
            note(f"policy version {version} published, trained on shard {shard}{apart}{took}")
            curves.update(current.home, store.shards(), versions, note)
            return metrics

        yield step


@asynccontextmanager
async def _local_steps(
    current: Session, store: "Store", versions: "Versions"
) -> AsyncIterator[Step]:
    from sandbox import Pool, Sandbox, SandboxConfig
    from solver.engines import open_policy
    from solver.metrics import left_out
    from solver.trainer import train_step

    settings, note = current.settings, current.report.note
    newest = versions.path(versions.latest())
    async with (
        open_policy(newest, settings.section(PolicyConfig), note) as policy,
        Sandbox(settings.section(SandboxConfig)) as sandbox,
        Pool(sandbox) as pool,
    ):

        async def step(shard: int, version: int) -> Mapping[str, Any]:
            result = await train_step(
                store, policy, pool, versions, settings, shard, version=version
            )
            if said := left_out(result.metrics):
                note(f"policy version {version}: {said}")
            return result.metrics

        yield step


async def _train(
    current: Session, wanted: str, steps: int | None, backend: Backend
) -> list[Mapping[str, Any]]:
    from memory import MemoryConfig, Store
    from solver.versions import Versions

    settings, note = current.settings, current.report.note
    memory = settings.section(MemoryConfig)
    store = Store.open(memory.place(current.home), memory)
    known = store.numbers()
    if not known:
        raise BadInput(f"{store.place} holds no shard; `spadework generate` makes one")
    versions = Versions(current.home / "policy")
    # What is due is known once no other trainer can be at it.
    with training(current.home), store:
        versions.bootstrap(settings.section(PolicyConfig))
        work = due(select(wanted, known), steps, versions.all())
        if not work:
            versions.read(versions.latest())  # "nothing to do" is no answer to a damaged version
            note(NOTHING.format(newest=versions.latest()))
            return []
        async with _steps(current, store, versions, backend, work) as step:
            return [await step(shard, version) for shard, version in work]


def _dry_run(current: Session, wanted: str, steps: int | None, backend: Backend) -> None:
    """Print what the first step would be; a home without shards or weights is told of as it would be."""
    from memory import MemoryConfig, Store
    from solver.dryrun import outline, outline_cluster
    from solver.versions import Versions

    settings, report = current.settings, current.report
    memory = settings.section(MemoryConfig)
    place = memory.place(current.home)
    first: tuple[int, int] | tuple[None, None] = (None, None)
    known: list[int] = []
    if "://" in place or Path(place).is_dir():
        with Store.open(place, memory) as store:
            known = store.numbers()
    if known:
        versions = Versions(current.home / "policy")
        pinned = select(wanted, known)
        work = due(pinned, steps, versions.all())
        if not work:
            _nothing(report, versions, pinned)
            return
        first = work[0]
    tell = outline_cluster if backend == "openrlhf" else outline
    told = tell(settings, current.home, *first)
    if report.as_json:
        report.data(told.as_json())
    else:
        for title, figures in (
            ("the first step would be", told.step),
            ("at most", told.work),
            ("on", told.machines),
        ):
            report.record(title, {name: _in_words(value) for name, value in figures.items()})
        if told.memory:
            columns = ("device", "phase", "need", "GB")
            rows = [[one[name] for name in columns] for one in told.memory]
            report.table("memory, by arithmetic", columns, rows)
        if told.command:
            report.text(told.command)
    for line in told.notes:
        report.note(line)
    for line in told.refusals:
        report.error(line)
    if told.refusals:
        raise typer.Exit(1)


def _nothing(report: Report, versions: "Versions", shards: Sequence[int]) -> None:
    """Say that there is nothing to train, and which versions were trained on the shards asked for."""
    made = [versions.read(number) for number in versions.all()]
    rows = [(shard, one.version) for shard in shards for one in made if one.shard == shard]
    columns = ("shard", "version")
    if report.as_json:
        report.data({"trained": [dict(zip(columns, row, strict=True)) for row in rows]})
    else:
        report.table("trained already", columns, rows)
    report.note(NOTHING.format(newest=versions.latest()))


def due(pinned: Sequence[int], steps: int | None, made: Sequence[int]) -> list[tuple[int, int]]:
    """Return what is to be trained: a shard and the policy version to make of it, in order.

    ``made`` are the versions that are there. Without ``steps``, one for each shard without its own.
    """
    if steps is None:
        return [(shard, shard) for shard in pinned if shard not in made]
    first = max(made, default=0) + 1
    return [(pinned[(first + n - 1) % len(pinned)], first + n) for n in range(steps)]


def select(wanted: str, known: Sequence[int] | None) -> list[int]:
    """Read a list of shards, as releases do; empty means all of ``known``.

    Raises ``BadInput`` for a shard that does not exist; with None for ``known`` it may still come.
    """
    from memory.releases import parse_shards

    if not wanted:
        return list(known or ())
    chosen = sorted(set(parse_shards(wanted)))
    if known and (missing := sorted(set(chosen).difference(known))):
        raise BadInput(
            f"--shards {wanted}: shard {missing[0]} does not exist; the store holds {known[0]} to "
            f"{known[-1]}"
        )
    return chosen


def _in_words(value: Any) -> Any:
    """A mapping as `2 this, 3 that`; a large count with its thousands apart."""
    if isinstance(value, Mapping):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "none"
    return f"{value:,}" if isinstance(value, int) and value > 9999 else value


def _row(metrics: Mapping[str, Any]) -> list[Any]:
    plays = metrics["plays"]
    return [
        metrics["version"],
        metrics["shard"],
        plays["count"],
        metrics["solver"]["reward"],
        plays["faulted"],
        metrics["solver"]["loss"],
        metrics["designer"]["loss"],
        metrics["seconds"]["total"],
    ]
