"""The command ``spadework train``."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from solver.config import PolicyConfig, SolverConfig, TrainConfig
from spadekit.cli import Session, command, session
from spadekit.errors import BadInput

COLUMNS = ("version", "shard", "plays", "return", "faulted", "solver loss", "designer loss", "s")


def register(app: typer.Typer) -> None:
    """Add the solver's commands to the front door."""

    @command(app, "train")
    def train(
        ctx: typer.Context,
        shards: Annotated[
            str, typer.Option(help="Pinned shards: 3, 1-4 or 1,3. Default: all.", metavar="LIST")
        ] = "",
        steps: Annotated[
            int | None,
            typer.Option(
                help="Take N more steps over the shards in turn; `loop` cannot go on from versions "
                "whose number is not their shard's. Default: one for each shard that has no policy "
                "version of its number yet.",
                min=1,
            ),
        ] = None,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Show what would be played and trained on.")
        ] = False,
    ) -> None:
        """GRPO for both roles on pinned shards and their designs; writes policy versions."""
        current = session(ctx)
        rows = asyncio.run(_train(current, shards, steps, dry_run))
        if current.report.as_json:
            current.report.data(rows)
        elif rows and dry_run:
            current.report.record("the first step would be", rows[0])
        elif rows:
            current.report.table("policy versions", COLUMNS, [_row(row) for row in rows])


async def _train(
    current: Session, wanted: str, steps: int | None, dry_run: bool
) -> list[dict[str, Any]]:
    from memory import MemoryConfig, Store
    from sandbox import Pool, Sandbox, SandboxConfig
    from solver.engines import open_policy
    from solver.planning import plan
    from solver.trainer import train_step
    from solver.versions import Versions

    settings, note = current.settings, current.report.note
    memory = settings.section(MemoryConfig)
    store = Store.open(memory.place(current.home), memory)
    known = [manifest.shard for manifest in store.shards()]
    if not known:
        raise BadInput(f"{store.place} holds no shard; `spadework generate` makes one")
    pinned = select(wanted, known)
    versions = Versions(current.home / "policy")
    versions.bootstrap(settings.section(PolicyConfig))
    if steps is None:
        work = [(shard, shard) for shard in pinned if not versions.has(shard)]
        if not work:
            some = "every shard" if len(pinned) == len(known) else "every shard named"
            note(
                f"nothing to do: {some} has its policy version (the newest is {versions.latest()}); "
                "`spadework generate` publishes more shards, --steps trains on them again"
            )
    else:
        first = versions.latest() + 1
        work = [(pinned[(first + n - 1) % len(pinned)], first + n) for n in range(steps)]
    if not work:
        return []
    if dry_run:
        config, playing = settings.section(TrainConfig), settings.section(SolverConfig)
        shard, version = work[0]
        return [_outline(plan(store, versions, config, shard, version), config, playing)]
    newest, rows = versions.path(versions.latest()), []
    try:
        async with (
            open_policy(newest, settings.section(PolicyConfig), note) as policy,
            Sandbox(settings.section(SandboxConfig)) as sandbox,
            Pool(sandbox) as pool,
        ):
            for shard, version in work:
                result = await train_step(
                    store, policy, pool, versions, settings, shard, version=version
                )
                apart = "" if version == shard else " (`loop` does not go on from such a version)"
                note(f"policy version {version} published, trained on shard {shard}{apart}")
                rows.append(result.metrics)
    finally:
        store.close()
    return rows


def select(wanted: str, known: Sequence[int]) -> list[int]:
    """Read ``3``, ``1-4`` or ``1,3`` into shard numbers; empty means all of ``known``."""
    if not wanted:
        return list(known)
    chosen: set[int] = set()
    for part in wanted.split(","):
        low, dash, high = part.partition("-")
        try:
            chosen.update(range(int(low), int(high if dash else low) + 1))
        except ValueError:
            raise BadInput(f"--shards {wanted}: write it as 3, 1-4 or 1,3") from None
    missing = sorted(chosen - set(known))
    if missing or not chosen:
        raise BadInput(
            f"--shards {wanted}: shard {missing[0] if missing else wanted} does not exist; "
            f"the store holds {known[0]} to {known[-1]}"
        )
    return sorted(chosen)


def _outline(step: Any, config: TrainConfig, playing: SolverConfig) -> dict[str, Any]:
    return {
        "version": step.version,
        "parent": step.parent.version,
        "shard": step.shard,
        "environments": len(step.environments),
        "plays": len(step.jobs),
        "designs": len(step.designs.samples),
        "design tokens": sum(sample.tokens for sample in step.designs.samples),
        "designs left out": ", ".join(f"{n} {why}" for why, n in step.designs.dropped.items()),
        "most play tokens": len(step.jobs) * playing.max_turns * playing.max_tokens,
        "optimiser": config.optimiser,
    }


def _row(metrics: dict[str, Any]) -> list[Any]:
    plays = metrics["plays"]
    return [
        metrics["version"],
        metrics["shard"],
        plays["count"],
        plays["return"],
        plays["faulted"],
        metrics["solver"]["loss"],
        metrics["designer"]["loss"],
        metrics["seconds"]["total"],
    ]
