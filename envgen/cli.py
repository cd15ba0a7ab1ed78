"""The designer's commands: generate, loop, check, play, import, export, publish."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, TypeVar

import typer

from envgen import cli_check, cli_export, cli_play, cli_pools, cli_publish, cli_serve
from spadekit.cli import command, session
from spadekit.runs import MOST, RunOption

T = TypeVar("T")
Where = Literal["local", "ray"]
WORKERS = (
    "Who certifies and runs the environments that are played: this process, or the workers of the Ray "
    "cluster at producer.ray_address (pip install -e '.[ray]'). What comes of a round is the same."
)
ROUNDS = (
    "Rounds the run shall have in all; the same command goes on after a kill. Default: one more."
)


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    for part in (cli_check, cli_play, cli_pools, cli_export, cli_publish, cli_serve):
        part.register(app)

    @command(app, "generate")
    def generate(
        ctx: typer.Context,
        rounds: Annotated[int | None, typer.Option(help=ROUNDS, min=1, max=MOST)] = None,
        run: RunOption = "main",
        follow: Annotated[
            bool,
            typer.Option(
                "--follow",
                help="Work beside `train --follow`: design each shard with the version that "
                "sync.max_ahead gives it and wait for it, round after round, until --rounds or stopped. "
                "--json prints a line for each round.",
            ),
        ] = False,
        workers: Annotated[Where, typer.Option(help=WORKERS)] = "local",
    ) -> None:
        """Design, certify, measure, admit, publish a shard (the dataset producer)."""
        from envgen import loop as loops

        if not follow:
            _run(ctx, run, loops.generate, rounds, workers)
            return
        report = session(ctx).report

        def tell(summary: dict[str, Any]) -> None:
            if report.as_json:
                report.data(summary)

        _do(ctx, run, lambda work: loops.follow(work, rounds, tell), workers)

    @command(app, "loop")
    def loop(
        ctx: typer.Context,
        rounds: Annotated[int | None, typer.Option(help=ROUNDS, min=1, max=MOST)] = None,
        run: RunOption = "main",
    ) -> None:
        """Rounds of generate and train on one machine; run it again to go on after an interruption."""
        from envgen.loop import selfplay

        _run(ctx, run, selfplay, rounds)


def _do(
    ctx: typer.Context, run: str, work: Callable[[Any], Awaitable[T]], workers: Where = "local"
) -> T:
    """Open the home and work in it; an interrupt is an ordinary end."""
    from envgen.workspace import open_workspace

    current = session(ctx)

    async def main() -> T:
        async with open_workspace(
            current.home, run, current.settings, current.report, workers
        ) as workspace:
            return await work(workspace)

    try:
        return asyncio.run(main())
    except KeyboardInterrupt:
        current.report.note("stopped; the same command goes on from here")
        raise typer.Exit(130) from None


def _run(
    ctx: typer.Context, run: str, work: Any, rounds: int | None, workers: Where = "local"
) -> None:
    from envgen.overview import show

    current = session(ctx)
    summaries: list[dict[str, Any]] = _do(
        ctx, run, lambda workspace: work(workspace, rounds), workers
    )
    if current.report.as_json:
        current.report.data(summaries)
        return
    show(current.report, run, current.home, summaries)
