"""The designer's commands: generate, loop, check, play, import, export."""

import asyncio
from typing import Annotated, Any

import typer

from envgen import cli_check, cli_export, cli_play, cli_pools, cli_serve
from spadekit.cli import command, session
from spadekit.errors import BadInput

ROUNDS = (
    "Rounds the run shall have in all; the same command goes on after a kill. Default: one more."
)


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    for part in (cli_check, cli_play, cli_pools, cli_export, cli_serve):
        part.register(app)

    @command(app, "generate")
    def generate(
        ctx: typer.Context,
        rounds: Annotated[int | None, typer.Option(help=ROUNDS, min=1)] = None,
        run: Annotated[str, typer.Option(help="Name of the run.")] = "main",
    ) -> None:
        """Design, certify, measure, admit, publish a shard (the dataset producer)."""
        from envgen.loop import generate as produce

        _run(ctx, run, produce, rounds)

    @command(app, "loop")
    def loop(
        ctx: typer.Context,
        rounds: Annotated[int | None, typer.Option(help=ROUNDS, min=1)] = None,
        run: Annotated[str, typer.Option(help="Name of the run.")] = "main",
    ) -> None:
        """Rounds of generate and train on one machine; run it again to go on after an interruption."""
        from envgen.loop import selfplay

        _run(ctx, run, selfplay, rounds)


def _run(ctx: typer.Context, run: str, work: Any, rounds: int | None) -> None:
    from envgen.overview import show
    from envgen.workspace import open_workspace

    if not run.replace("-", "").replace("_", "").isalnum():
        raise BadInput(f"--run {run!r}: use letters, digits, `-` and `_` only")
    current = session(ctx)

    async def main() -> list[dict[str, Any]]:
        async with open_workspace(current.home, run, current.settings, current.report) as workspace:
            result: list[dict[str, Any]] = await work(workspace, rounds)
            return result

    try:
        summaries = asyncio.run(main())
    except KeyboardInterrupt:
        current.report.note("stopped; the same command goes on from here")
        raise typer.Exit(130) from None
    if current.report.as_json:
        current.report.data(summaries)
        return
    show(current.report, run, current.home, summaries)
