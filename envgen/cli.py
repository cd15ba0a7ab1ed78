"""The designer's commands: generate, loop, check, play, import, export."""

import asyncio
from typing import Annotated, Any

import typer

import memory.cli
from envgen import cli_check, cli_export, cli_play, cli_pools
from spadekit.cli import command, session
from spadekit.errors import BadInput


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    for part in (cli_check, cli_play, cli_pools, cli_export):
        part.register(app)
    if cli_play.show_seed not in memory.cli.ELSEWHERE:
        memory.cli.ELSEWHERE.append(cli_play.show_seed)

    @command(app, "generate")
    def generate(
        ctx: typer.Context,
        rounds: Annotated[int, typer.Option(help="Shards to publish.", min=1)] = 1,
        run: Annotated[str, typer.Option(help="Name of the run.")] = "main",
    ) -> None:
        """Design, certify, measure, admit, publish a shard (the dataset producer)."""
        from envgen.loop import generate as produce

        _run(ctx, run, produce, rounds)

    @command(app, "loop")
    def loop(
        ctx: typer.Context,
        rounds: Annotated[int, typer.Option(help="Rounds the run shall have in all.", min=1)] = 3,
        run: Annotated[str, typer.Option(help="Name of the run.")] = "main",
    ) -> None:
        """Rounds of generate and train on one machine; run it again to go on after an interruption."""
        from envgen.loop import selfplay

        _run(ctx, run, selfplay, rounds)


def _run(ctx: typer.Context, run: str, work: Any, rounds: int) -> None:
    from envgen.loop import COLUMNS
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
    columns = [(title, key) for title, key in COLUMNS if key in summaries[0]]
    current.report.table(
        f"run {run} in {current.home}",
        [title for title, _ in columns],
        [[_shown(summary[key]) for _, key in columns] for summary in summaries],
    )


def _shown(value: Any) -> Any:
    return f"{value:.2f}" if isinstance(value, float) else value
